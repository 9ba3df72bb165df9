import type { Context } from "../context";

/** Ends a person's sessions with their sockets, all but the one that may stay. Resolves with how many. */
export async function endSessions(ctx: Context, userId: string, except?: string | null): Promise<number> {
  const where = { userId, ...(except ? { id: { not: except } } : {}) };
  const sessions = await ctx.db.session.findMany({ where, select: { id: true } });
  await ctx.db.session.deleteMany({ where });
  ctx.afterCommit(() => {
    if (!except) ctx.services.hub.cutPerson(userId);
    else for (const { id } of sessions) ctx.services.hub.cutSession(id);
  });
  return sessions.length;
}
