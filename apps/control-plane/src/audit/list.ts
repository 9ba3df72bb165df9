import { z } from "zod";
import type { Call } from "../context";

export const ListAuditInput = z.object({
  cursor: z.uuid().nullish(),
  limit: z.number().int().min(1).max(200).default(50),
  entity: z.string().max(60).optional(),
  verb: z.string().max(80).optional(),
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

/** Newest first; ids grow with time, so an id is the cursor. */
export async function listAudit({ ctx, input }: Call<z.infer<typeof ListAuditInput>>) {
  const found = await ctx.db.auditEntry.findMany({
    where: { entity: input.entity, verb: input.verb, ...(input.cursor ? { id: { lt: input.cursor } } : {}) },
    orderBy: { id: "desc" },
    take: input.limit + 1,
  });
  const rows = found.slice(0, input.limit);
  const more = found.length > input.limit;
  return { rows, nextCursor: more ? (rows.at(-1)?.id ?? null) : null };
}
