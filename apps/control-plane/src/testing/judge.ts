import { fitTable } from "@helm/cascade";
import { labelledAnswers } from "@helm/cascade/testing";
import type { CalibrationEvent, JudgeTable } from "@helm/contracts";

type Asked = { streaming: "buffer" | "window"; window: number | null };

/** A table as a command line fits it, for the tests' pair; another seed gives another digest. */
export function judgeTable(
  seed = 1,
  asked: Asked = { streaming: "buffer", window: null },
  changes: Partial<JudgeTable> = {},
): JudgeTable {
  const fitted = fitTable(labelledAnswers(600, 3, seed), { ...asked, label: "target_better" });
  if (!fitted.ok) throw new Error(fitted.message);
  return {
    v: 1,
    type: "judge_table",
    pair: { source: "pilot", target: "target" },
    weights: { source: null, target: null },
    origin: { kind: "tasks", name: "test" },
    fitted_at: "2026-11-30T12:00:00.000Z",
    ...fitted.table,
    ...changes,
  };
}

/** A run that also brings answers for a judge, before its result. */
export function withAnswers(count = 200): (events: CalibrationEvent[]) => CalibrationEvent[] {
  return (events) => {
    const rows = labelledAnswers(count, 3);
    const chunks = Array.from(
      { length: Math.ceil(count / 50) },
      (_, i): CalibrationEvent => ({
        v: 1,
        at: "2026-11-30T06:00:00.000Z",
        type: "judge_rows",
        rows: rows.slice(50 * i, 50 * (i + 1)),
      }),
    );
    return [...events.slice(0, -1), ...chunks, ...events.slice(-1)];
  };
}
