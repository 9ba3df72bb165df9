import { HelmError, keyStateOf } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { lockTenant } from "../tenant/lock-tenant";
import { requireNotArchived } from "../tenant/schema";
import { CreateKeyOutput, makeKey } from "./create";

const LONGEST_GRACE_S = 90 * 86_400;

export const RotateKeyInput = z.object({
  id: z.uuid(),
  /** How long the old key goes on beside the new one; 0 ends it at once. */
  graceS: z.number().int().min(0).max(LONGEST_GRACE_S).default(86_400),
  /** Of the new key. */
  expiresAt: z.date().nullish(),
});
export const RotateKeyOutput = CreateKeyOutput.extend({
  /** The old key, and when it ends. */
  replaces: z.object({ id: z.uuid(), prefix: z.string(), endsAt: z.date() }),
});

/** A new key takes over; the old one ends after a grace period, never later than it would have. */
export async function rotateKey({ ctx, input }: Call<z.infer<typeof RotateKeyInput>>) {
  const key = await ctx.db.apiKey.findUnique({ where: { id: input.id }, select: { tenantId: true } });
  if (!key) throw new HelmError("NOT_FOUND", "There is no such key.");
  requireNotArchived(await lockTenant(ctx, key.tenantId));
  await ctx.db.$executeRaw`SELECT 1 FROM "api_key" WHERE "id" = ${input.id}::uuid FOR NO KEY UPDATE`;
  const old = await ctx.db.apiKey.findUnique({
    where: { id: input.id },
    include: { tenant: true, replacedBy: { select: { prefix: true } } },
  });
  if (!old) throw new HelmError("NOT_FOUND", "There is no such key.");
  const now = new Date();
  const state = keyStateOf(old, now);
  if (state === "REVOKED" || state === "EXPIRED")
    throw new HelmError(
      "ILLEGAL_TRANSITION",
      `${old.prefix} is ${state} and cannot be rotated. Create a new key.`,
    );
  const [successor] = old.replacedBy;
  if (successor)
    throw new HelmError(
      "ILLEGAL_TRANSITION",
      `${old.prefix} was rotated already: ${successor.prefix} took over.`,
    );
  const expiresAt = input.expiresAt ?? null;
  if (expiresAt && expiresAt <= now) throw new HelmError("BAD_REQUEST", "The expiry lies in the past.");
  const grace = new Date(now.getTime() + input.graceS * 1000);
  const endsAt = old.expiresAt && old.expiresAt < grace ? old.expiresAt : grace;
  const ended = input.graceS === 0 ? { revokedAt: now } : { expiresAt: endsAt };
  await ctx.db.apiKey.update({ where: { id: old.id }, data: ended });
  const made = await makeKey(ctx, { tenantId: old.tenantId, name: old.name, expiresAt, replacesId: old.id });
  await writeAudit(ctx, {
    verb: "key.rotate",
    entity: "key",
    entityId: old.id,
    before: { tenant: old.tenant.name, prefix: old.prefix, expiresAt: old.expiresAt?.toISOString() ?? null },
    after: { prefix: old.prefix, endsAt: endsAt.toISOString(), successor: made.prefix },
  });
  return { ...made, replaces: { id: old.id, prefix: old.prefix, endsAt } };
}
