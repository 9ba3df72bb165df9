import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { revokeRow } from "../access/revoke-row";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";

export const RevokeHostInput = z.object({ id: z.uuid() });
export const RevokeHostOutput = z.object({ id: z.uuid(), revokedAt: z.date() });

/** The credential opens nothing from here on; open sockets are cut. */
export async function revokeHost({ ctx, input }: Call<z.infer<typeof RevokeHostInput>>) {
  const host = await ctx.db.host.findUnique({ where: { id: input.id } });
  if (!host) throw new HelmError("NOT_FOUND", "There is no such worker or node.");
  const revokedAt = await revokeRow(ctx, "host", host.id);
  await writeAudit(ctx, {
    verb: "host.revoke",
    entity: host.kind,
    entityId: host.id,
    after: { name: host.name },
  });
  ctx.afterCommit(() => ctx.services.hub.cutHost(host.id));
  return { id: host.id, revokedAt };
}
