import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import { revokeRow } from "../access/revoke-row";
import { mayUse } from "../access/scopes";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";

export const RevokeTokenInput = z.object({ id: z.uuid() });
export const RevokeTokenOutput = z.object({ id: z.uuid(), revokedAt: z.date() });

/** Final; revoking twice keeps the first time. One's own, and for administrators everyone's. */
export async function revokeToken({ ctx, input }: Call<z.infer<typeof RevokeTokenInput>>) {
  const actor = actingPerson(ctx);
  const token = await ctx.db.personalToken.findUnique({ where: { id: input.id }, include: { user: true } });
  const mine = token?.referenceId === actor.id;
  // Whose it is, is nothing to tell others: what is not theirs is not there.
  if (!token || (!mine && !mayUse(actor, "admin")))
    throw new HelmError("NOT_FOUND", "There is no such token of yours.");
  const revokedAt = await revokeRow(ctx, "token", token.id);
  await ctx.db.personalToken.update({ where: { id: token.id }, data: { enabled: false } });
  await writeAudit(ctx, {
    verb: "token.revoke",
    entity: "token",
    entityId: token.id,
    after: {
      person: token.user.email,
      name: token.name,
      start: token.start,
      revokedAt: revokedAt.toISOString(),
    },
  });
  return { id: token.id, revokedAt };
}
