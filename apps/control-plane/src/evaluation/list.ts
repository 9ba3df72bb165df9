import { Evaluation, MapperState } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";
import type { Call } from "../context";

export const ListEvaluationsInput = z.object({
  pairId: z.uuid(),
  /** The last id of the page before. */
  before: z.uuid().optional(),
  limit: z.number().int().min(1).max(50).default(20),
});
export const EvaluationOut = z.object({
  id: z.uuid(),
  pairId: z.uuid(),
  mapperId: z.uuid(),
  mapperSha256: z.string(),
  mapperState: MapperState,
  developmentOnly: z.boolean(),
  recordedBy: z.string(),
  createdAt: z.date(),
  result: Evaluation,
});
export type EvaluationOut = z.infer<typeof EvaluationOut>;

/** One page of a pair's evaluations, newest first. */
export async function listEvaluations({
  ctx,
  input,
}: Call<z.infer<typeof ListEvaluationsInput>>): Promise<EvaluationOut[]> {
  const rows = await ctx.db.evaluation.findMany({
    where: { pairId: input.pairId, ...(input.before && { id: { lt: input.before } }) },
    include: { mapper: { omit: { manifest: true } } },
    orderBy: { id: "desc" },
    take: input.limit,
  });
  return rows.flatMap((row) => {
    const result = Evaluation.safeParse(row.result);
    if (!result.success) {
      ctx.log.warn(
        { evaluation: row.id },
        "a stored evaluation breaks the schema of today; it is not listed",
      );
      return [];
    }
    return [out(row, result.data)];
  });
}

type Row = Prisma.EvaluationGetPayload<{ include: { mapper: { omit: { manifest: true } } } }>;

function out(row: Row, result: Evaluation): EvaluationOut {
  return {
    id: row.id,
    pairId: row.pairId,
    mapperId: row.mapperId,
    mapperSha256: row.mapper.sha256,
    mapperState: row.mapper.state,
    developmentOnly: row.developmentOnly,
    recordedBy: row.recordedBy,
    createdAt: row.createdAt,
    result,
  };
}
