import type { Prisma } from "@helm/db";
import { z } from "zod";
import type { Call } from "../context";

export const ActorKind = z.enum(["person", "host", "system", "anonymous"]);

/** What narrows the audit; an exact value each, so that an index answers. */
export const AuditFilter = z.object({
  entity: z.string().max(60).optional(),
  entityId: z.string().max(200).optional(),
  verb: z.string().max(80).optional(),
  actor: z.string().max(320).optional(),
  requestId: z.string().max(80).optional(),
  /** Whose kind: people's changes apart from what hosts and Helm itself do. */
  actorKind: ActorKind.optional(),
  since: z.date().optional(),
  until: z.date().optional(),
});
export const ListAuditInput = AuditFilter.extend({
  cursor: z.uuid().nullish(),
  limit: z.number().int().min(1).max(500).default(50),
});
export const AuditRow = z.object({
  id: z.uuid(),
  at: z.date(),
  actorKind: z.string(),
  actorId: z.string().nullable(),
  actorName: z.string(),
  verb: z.string(),
  entity: z.string(),
  entityId: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  reason: z.string().nullable(),
  requestId: z.string(),
});
export const ListAuditOutput = z.object({ rows: z.array(AuditRow), nextCursor: z.uuid().nullable() });

/** Newest first; the rows of one transaction share their moment, and among them the id decides. */
export async function listAudit({ ctx, input }: Call<z.infer<typeof ListAuditInput>>) {
  const { cursor, limit, actor, since, until, ...exact } = input;
  const last = cursor
    ? await ctx.db.auditEntry.findUnique({ where: { id: cursor }, select: { at: true, id: true } })
    : null;
  if (cursor && !last) return { rows: [], nextCursor: null };
  const before: Prisma.AuditEntryWhereInput = last
    ? { at: { lte: last.at }, OR: [{ at: { lt: last.at } }, { id: { lt: last.id } }] }
    : {};
  const found = await ctx.db.auditEntry.findMany({
    where: { AND: [{ ...exact, actorName: actor, at: { gte: since, lt: until } }, before] },
    orderBy: [{ at: "desc" }, { id: "desc" }],
    take: limit + 1,
  });
  const rows = found.slice(0, limit);
  return { rows, nextCursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
