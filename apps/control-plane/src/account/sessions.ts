import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import type { Context } from "../context";

export const SessionOut = z.object({
  id: z.uuid(),
  /** The one that asks. */
  current: z.boolean(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
  expiresAt: z.date(),
});

/** One's own that are open, newest first. Their tokens are nobody's to read. */
export async function listSessions(ctx: Context): Promise<z.infer<typeof SessionOut>[]> {
  const actor = actingPerson(ctx);
  const rows = await ctx.db.session.findMany({
    where: { userId: actor.id, expiresAt: { gt: new Date() } },
    orderBy: { createdAt: "desc" },
    take: 200,
  });
  return rows.map((row) => ({
    id: row.id,
    current: row.id === actor.sessionId,
    address: row.ipAddress || null,
    userAgent: row.userAgent,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
  }));
}
