import { randomInt } from "node:crypto";
import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { hashSecret, randomSecret } from "../access/secret";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";

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

export async function createKey({ ctx, input }: Call<z.infer<typeof CreateKeyInput>>) {
  const tenant = await ctx.db.tenant.findUnique({ where: { id: input.tenantId } });
  if (!tenant) throw new HelmError("NOT_FOUND", "There is no such tenant.");
  if (input.expiresAt && input.expiresAt <= new Date())
    throw new HelmError("BAD_REQUEST", "The expiry lies in the past.");
  const prefix = `hlm_${Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")}`;
  const key = `${prefix}_${randomSecret(32)}`;
  const { id } = await ctx.db.apiKey.create({
    data: {
      tenantId: tenant.id,
      name: input.name,
      prefix,
      hash: hashSecret(key),
      createdBy: actorName(ctx.actor),
      expiresAt: input.expiresAt ?? null,
    },
  });
  await writeAudit(ctx, {
    verb: "key.create",
    entity: "key",
    entityId: id,
    after: {
      tenant: tenant.name,
      name: input.name,
      prefix,
      expiresAt: input.expiresAt?.toISOString() ?? null,
    },
  });
  return { id, key, prefix };
}
