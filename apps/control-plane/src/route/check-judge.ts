import { HelmError, JudgeTable, type StreamingMode } from "@helm/contracts";
import type { Context } from "../context";
import { isStale } from "../judge/schema";
import { thresholdOf } from "../judge/threshold";

/**
 * The table is held until the route is written: nobody removes it meanwhile. Errors: NOT_FOUND for a table that is not there
 * any more, BAD_REQUEST for one of other weights.
 */
export async function requireUsableJudge(
  ctx: Context,
  choice: { id: string } | null | undefined,
): Promise<void> {
  if (!choice) return;
  await ctx.db.$executeRaw`SELECT 1 FROM "judge_table" WHERE "id" = ${choice.id}::uuid FOR KEY SHARE`;
  const found = await ctx.db.judgeTable.findUnique({ where: { id: choice.id }, include: ofPair });
  if (!found)
    throw new HelmError("NOT_FOUND", "There is no such judge table any more. Choose another, or none.");
  if (isStale(JudgeTable.parse(found.table), found.pair))
    throw refused(
      found.sha256,
      "was fitted on other weights than the pair has now. Fit a new one, or choose none.",
    );
}

const ofPair = { pair: { include: { source: true, target: true } } } as const;

function refused(sha256: string, what: string): HelmError {
  const issues = [{ path: "judgeTable", message: what }];
  return new HelmError("BAD_REQUEST", `Judge table ${sha256.slice(0, 12)} ${what}`, { issues });
}

interface Judged {
  pairId: string;
  streaming: StreamingMode;
  window: number;
  judgeTableId: string | null;
  escalationRate: number | null;
  qualityFloor: number | null;
}

/**
 * A table judges what it was fitted for, and nothing else: this pair, this streaming mode, this window.
 * Looked at on the row as it was written, so that a change of either side is seen. Errors: BAD_REQUEST.
 */
export async function requireFittingJudge(ctx: Context, route: Judged): Promise<void> {
  if (route.judgeTableId === null) return;
  const found = await ctx.db.judgeTable.findUniqueOrThrow({ where: { id: route.judgeTableId } });
  const table = JudgeTable.parse(found.table);
  if (found.pairId !== route.pairId)
    throw refused(found.sha256, "was fitted for another pair. Choose one of this pair, or none.");
  const wanted = describe(route.streaming, route.window);
  const fitted = describe(table.streaming, table.window);
  if (wanted !== fitted)
    throw refused(
      found.sha256,
      `judges ${fitted}, and the route would hold back ${wanted}. Choose a table for that, fit one (lifeboat helm judge fit), or choose none.`,
    );
  const { escalationRate, qualityFloor } = route;
  thresholdOf(
    table,
    qualityFloor === null ? { escalation_rate: escalationRate ?? 0 } : { quality_floor: qualityFloor },
  );
}

function describe(streaming: StreamingMode, window: number | null): string {
  if (streaming === "window") return `the first ${window} tokens`;
  return streaming === "buffer" ? "whole answers" : "nothing (stream never escalates)";
}
