import { Ladder } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";

export const ListLaddersInput = z
  .object({
    /** The last id of the page before. */
    before: z.uuid().optional(),
    limit: z.number().int().min(1).max(100).default(50),
  })
  .default({ limit: 50 });

export const LadderOut = z.object({
  id: z.uuid(),
  node: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  recordedBy: z.string(),
  createdAt: z.date(),
  result: Ladder,
});
export type LadderOut = z.infer<typeof LadderOut>;

/** One page of ladders, newest first. */
export async function listLadders({
  ctx,
  input,
}: Call<z.infer<typeof ListLaddersInput>>): Promise<LadderOut[]> {
  const rows = await ctx.db.ladder.findMany({
    where: input.before ? { id: { lt: input.before } } : {},
    include: { node: { select: { id: true, name: true } } },
    orderBy: { id: "desc" },
    take: input.limit,
  });
  return rows.flatMap(({ id, node, recordedBy, createdAt, result }) => {
    const parsed = Ladder.safeParse(result);
    if (parsed.success) return [{ id, node, recordedBy, createdAt, result: parsed.data }];
    ctx.log.warn({ ladder: id }, "a stored ladder breaks the schema of today; it is not listed");
    return [];
  });
}
