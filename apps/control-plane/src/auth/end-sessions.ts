import type { Context } from "../context";

/** Ends a person's sessions with their sockets, all but the one that may stay. Resolves with how many. */
export async function endSessions(ctx: Context, userId: string, except?: string | null): Promise<number> {
  // In one statement: the sockets of every session that is deleted are cut, also of one that has just been opened.
  const sessions = await ctx.db.$queryRaw<{ id: string }[]>`
    DELETE FROM "session" WHERE "user_id" = ${userId}::uuid AND "id" IS DISTINCT FROM ${except ?? null}::uuid
    RETURNING "id"::text`;
  ctx.afterCommit(() => {
    if (!except) ctx.services.hub.cutPerson(userId);
    else for (const { id } of sessions) ctx.services.hub.cutSession(id);
  });
  return sessions.length;
}
