import { fitTable } from "@helm/cascade";
import { HelmError, JudgeLabel, JudgeTable } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { readRows } from "./read-rows";
import type { JudgeTableOut } from "./schema";
import { storeTable } from "./store-table";

export const FitJudgeInput = z
  .object({
    calibrationId: z.uuid(),
    streaming: z.enum(["buffer", "window"]),
    window: z.number().int().min(1).max(4096).nullable(),
    label: JudgeLabel.default("target_differs"),
  })
  .refine(({ streaming, window }) => (streaming === "window") === (window !== null), {
    path: ["window"],
    message: "a judge of windows needs their length, one of whole answers has none",
  });

/** Fits a table on the answers that a calibration's models gave to its probes. */
export async function fitJudge({ ctx, input }: Call<z.infer<typeof FitJudgeInput>>): Promise<JudgeTableOut> {
  const { calibrationId, ...asked } = input;
  const run = await ctx.db.calibration.findUnique({
    where: { id: calibrationId },
    include: { pair: { include: { source: true, target: true } } },
  });
  if (!run) throw new HelmError("NOT_FOUND", "There is no such calibration.");
  const { source, target } = run.pair;
  const rows = await readRows(ctx, run.id);
  if (rows.length === 0)
    throw new HelmError(
      "BAD_REQUEST",
      `This run brought no answers for a judge: it was imported, recorded, or has not come so far. Collect them on a host that has both models: lifeboat helm judge fit --source-model ${source.name} --target-model ${target.name} --record.`,
    );
  const fitted = fitTable(rows, asked);
  if (!fitted.ok) throw new HelmError("BAD_REQUEST", fitted.message);
  const table = JudgeTable.parse({
    v: 1,
    type: "judge_table",
    pair: { source: source.name, target: target.name },
    weights: { source: source.weightsSha256, target: target.weightsSha256 },
    origin: { kind: "probes", name: `calibration ${run.id}` },
    // Of the answers, so that the same ones give the same table whenever they are fitted.
    fitted_at: (run.finishedAt ?? run.createdAt).toISOString(),
    ...fitted.table,
  });
  return storeTable(ctx, "judge.fit", { table, pairId: run.pairId, calibrationId });
}
