import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";

export const JoinTokenOut = z.object({
  id: z.uuid(),
  kind: z.enum(["worker", "node"]),
  createdBy: z.string(),
  createdAt: z.date(),
  expiresAt: z.date(),
});
export const CancelJoinTokenInput = z.object({ id: z.uuid() });
export const CancelJoinTokenOutput = z.object({ id: z.uuid() });

const open = () => ({ usedAt: null, cancelledAt: null, expiresAt: { gt: new Date() } });

/** Those that would still let a host in. */
export async function listJoinTokens(ctx: Context): Promise<z.infer<typeof JoinTokenOut>[]> {
  return ctx.db.joinToken.findMany({
    where: open(),
    select: { id: true, kind: true, createdBy: true, createdAt: true, expiresAt: true },
    orderBy: { createdAt: "desc" },
    take: 500,
  });
}

/** Whoever tries to join with it afterwards is refused; one that was used stays used. */
export async function cancelJoinToken({ ctx, input }: Call<z.infer<typeof CancelJoinTokenInput>>) {
  const token = await ctx.db.joinToken.findUnique({ where: { id: input.id } });
  if (!token) throw new HelmError("NOT_FOUND", "There is no such join token.");
  const cancelled = await ctx.db.joinToken.updateMany({
    where: { id: token.id, ...open() },
    data: { cancelledAt: new Date() },
  });
  if (cancelled.count !== 1)
    throw new HelmError(
      "CONFLICT",
      "This join token is used, expired or cancelled already. Nothing was changed; revoke the host if one joined with it.",
    );
  await writeAudit(ctx, {
    verb: "host.cancelJoinToken",
    entity: "join_token",
    entityId: token.id,
    after: { kind: token.kind },
  });
  return { id: token.id };
}
