import { JudgeRow } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";

const Rows = z.object({ rows: z.array(JudgeRow) });

/** The labelled answers of a calibration's newest attempt; none of a run that was imported or recorded before there were any. */
export async function readRows(ctx: Context, calibrationId: string): Promise<JudgeRow[]> {
  const attempt = await ctx.db.calibrationAttempt.findFirst({
    where: { calibrationId },
    orderBy: { number: "desc" },
    select: { id: true },
  });
  if (!attempt) return [];
  const events = await ctx.db.calibrationEvent.findMany({
    where: { attemptId: attempt.id, type: "judge_rows" },
    orderBy: { seq: "asc" },
    select: { body: true },
  });
  return events.flatMap(({ body }) => Rows.parse(body).rows);
}
