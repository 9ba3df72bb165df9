import { randomInt } from "node:crypto";
import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { hashSecret, randomSecret } from "../access/secret";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { lockTenant } from "../tenant/lock-tenant";
import { requireNotArchived } from "../tenant/schema";

export const CreateKeyInput = z.object({
  tenantId: z.uuid(),
  name: z.string().trim().min(1).max(80),
  expiresAt: z.date().nullish(),
});
export const CreateKeyOutput = z.object({
  id: z.uuid(),
  /** The whole key, shown this once; only its digest is kept. */
  key: z.string(),
  prefix: z.string(),
});

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A new key of a tenant, stored by its digest. */
export async function makeKey(
  ctx: Context,
  data: { tenantId: string; name: string; expiresAt: Date | null; replacesId?: string },
): Promise<z.infer<typeof CreateKeyOutput>> {
  const prefix = `hlm_${Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")}`;
  const key = `${prefix}_${randomSecret(32)}`;
  const { id } = await ctx.db.apiKey.create({
    data: { ...data, prefix, hash: hashSecret(key), createdBy: actorName(ctx.actor) },
  });
  return { id, key, prefix };
}

export async function createKey({ ctx, input }: Call<z.infer<typeof CreateKeyInput>>) {
  const tenant = await lockTenant(ctx, input.tenantId);
  requireNotArchived(tenant);
  if (input.expiresAt && input.expiresAt <= new Date())
    throw new HelmError("BAD_REQUEST", "The expiry lies in the past.");
  const { name, expiresAt = null } = input;
  const made = await makeKey(ctx, { tenantId: tenant.id, name, expiresAt });
  await writeAudit(ctx, {
    verb: "key.create",
    entity: "key",
    entityId: made.id,
    after: { tenant: tenant.name, name, prefix: made.prefix, expiresAt: expiresAt?.toISOString() ?? null },
  });
  return made;
}
