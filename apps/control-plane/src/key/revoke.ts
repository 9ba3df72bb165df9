import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { revokeRow } from "../access/revoke-row";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";

export const RevokeKeyInput = z.object({ id: z.uuid() });
export const RevokeKeyOutput = z.object({ id: z.uuid(), revokedAt: z.date() });

/** Final. Revoking twice keeps the first time. */
export async function revokeKey({ ctx, input }: Call<z.infer<typeof RevokeKeyInput>>) {
  const key = await ctx.db.apiKey.findUnique({ where: { id: input.id }, include: { tenant: true } });
  if (!key) throw new HelmError("NOT_FOUND", "There is no such key.");
  const revokedAt = await revokeRow(ctx, "key", key.id);
  await writeAudit(ctx, {
    verb: "key.revoke",
    entity: "key",
    entityId: key.id,
    after: { tenant: key.tenant.name, prefix: key.prefix, revokedAt: revokedAt.toISOString() },
  });
  return { id: key.id, revokedAt };
}
