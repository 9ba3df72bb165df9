import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import { writeAudit } from "../audit/write-audit";
import { endSessions } from "../auth/end-sessions";
import type { Call, Context } from "../context";

export const RevokeSessionInput = z.object({ id: z.uuid() });
export const RevokeSessionOutput = z.object({ id: z.uuid() });
export const RevokeOthersOutput = z.object({ sessionsEnded: z.number().int() });

/** One of one's own, with its sockets; another's is not there. */
export async function revokeSession({ ctx, input }: Call<z.infer<typeof RevokeSessionInput>>) {
  const actor = actingPerson(ctx);
  const ended = await ctx.db.session.deleteMany({ where: { id: input.id, userId: actor.id } });
  if (ended.count !== 1) throw new HelmError("NOT_FOUND", "There is no such session of yours any more.");
  ctx.afterCommit(() => ctx.services.hub.cutSession(input.id));
  await writeAudit(ctx, {
    verb: "account.revokeSession",
    entity: "session",
    entityId: input.id,
    after: { email: actor.email },
  });
  return { id: input.id };
}

export async function revokeOtherSessions(ctx: Context) {
  const actor = actingPerson(ctx);
  const sessionsEnded = await endSessions(ctx, actor.id, actor.sessionId);
  await writeAudit(ctx, {
    verb: "account.revokeOtherSessions",
    entity: "person",
    entityId: actor.id,
    after: { email: actor.email, sessionsEnded },
  });
  return { sessionsEnded };
}
