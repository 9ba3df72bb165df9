import { HelmError } from "@helm/contracts";
import type { Context } from "../context";
import { fitJudge } from "./fit";
import { readRows } from "./read-rows";

const DEFAULT_WINDOW = 64;

/**
 * A pair's first tables come from its first calibration's own probes: one of whole answers, and one for each window that a
 * route of the pair holds back. No route judges by them until somebody says so. A run that tells too little leaves none.
 */
export async function fitFirstTables(ctx: Context, run: { id: string; pairId: string }): Promise<void> {
  if ((await ctx.db.judgeTable.count({ where: { pairId: run.pairId } })) > 0) return;
  if ((await readRows(ctx, run.id)).length === 0) return;
  const routes = await ctx.db.route.findMany({
    where: { pairId: run.pairId, streaming: "window" },
    select: { window: true },
  });
  const windows = new Set(routes.map(({ window }) => window));
  if (windows.size === 0) windows.add(DEFAULT_WINDOW);
  for (const window of [null, ...windows]) {
    const streaming = window === null ? "buffer" : "window";
    const input = { calibrationId: run.id, streaming, window, label: "target_differs" } as const;
    try {
      await fitJudge({ ctx, input });
    } catch (error) {
      // The calibration has succeeded whatever its answers teach a judge.
      if (!(error instanceof HelmError) || error.code !== "BAD_REQUEST") throw error;
      ctx.log.info({ calibration: run.id, window, why: error.userMessage }, "no first judge table");
      return;
    }
  }
}
