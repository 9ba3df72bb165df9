import { HelmError, JudgeTable } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { isStale, type JudgeTableOut } from "./schema";
import { storeTable } from "./store-table";

export const ImportJudgeInput = z.object({ table: JudgeTable });

/** Takes a table that was fitted elsewhere. Errors: NOT_FOUND for the pair, IMPORT_REFUSED for one of other weights. */
export async function importJudge({
  ctx,
  input,
}: Call<z.infer<typeof ImportJudgeInput>>): Promise<JudgeTableOut> {
  const { table } = input;
  const { source, target } = table.pair;
  const pair = await ctx.db.pair.findFirst({
    where: { source: { name: source }, target: { name: target } },
    include: { source: true, target: true },
  });
  if (!pair)
    throw new HelmError(
      "NOT_FOUND",
      `There is no pair ${source} -> ${target} here. Register it: lifeboat helm pair register ${source} ${target}.`,
    );
  if (isStale(table, pair))
    throw new HelmError(
      "IMPORT_REFUSED",
      `This table was fitted on other weights than ${source} and ${target} have here. Fit it anew on a host that has these.`,
      { causes: ["WEIGHTS_DIFFER"] },
    );
  return storeTable(ctx, "judge.import", { table, pairId: pair.id, calibrationId: null });
}
