import { Evaluation, MapperState } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";

export const ListEvaluationsInput = z.object({ pairId: z.uuid() });
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

/** A pair's newest 50, newest first. */
export async function listEvaluations({
  ctx,
  input,
}: Call<z.infer<typeof ListEvaluationsInput>>): Promise<EvaluationOut[]> {
  const rows = await ctx.db.evaluation.findMany({
    where: { pairId: input.pairId },
    include: { mapper: { omit: { manifest: true } } },
    orderBy: { id: "desc" },
    take: 50,
  });
  return rows.map((row) => ({
    id: row.id,
    pairId: row.pairId,
    mapperId: row.mapperId,
    mapperSha256: row.mapper.sha256,
    mapperState: row.mapper.state,
    developmentOnly: row.developmentOnly,
    recordedBy: row.recordedBy,
    createdAt: row.createdAt,
    result: Evaluation.parse(row.result),
  }));
}
