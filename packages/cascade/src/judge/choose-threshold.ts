import {
  GUARANTEE_FROM,
  JUDGE_LABELS,
  type JudgeBy,
  type JudgeTable,
  type JudgeThreshold,
} from "@helm/contracts";

export type ThresholdChoice =
  | { ok: true; threshold: JudgeThreshold }
  /** No share of escalations keeps this quality with this many labelled requests. */
  | { ok: false; reachable: number };

/**
 * By rate: the threshold that escalates this share. By floor: the least share whose quality is at or above it with the
 * whole of its interval.
 */
export function chooseThreshold(
  table: Pick<JudgeTable, "curve" | "requests" | "label">,
  by: JudgeBy,
): ThresholdChoice {
  const { curve } = table;
  if ("escalation_rate" in by) {
    const nearest = curve.reduce((best, point) =>
      Math.abs(point.rate - by.escalation_rate) < Math.abs(best.rate - by.escalation_rate) ? point : best,
    );
    return { ok: true, threshold: describe(nearest, table) };
  }
  const enough = curve.find(({ low }) => low >= by.quality_floor);
  if (!enough) return { ok: false, reachable: Math.max(...curve.map(({ low }) => low)) };
  return { ok: true, threshold: describe(enough, table) };
}

function describe(
  point: JudgeTable["curve"][number],
  { requests, label }: Pick<JudgeTable, "requests" | "label">,
): JudgeThreshold {
  const guaranteed = requests >= GUARANTEE_FROM;
  const percent = (share: number) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
  const what =
    label === "target_better"
      ? "are answered no worse than by the target"
      : "are answered as the target would";
  const sentence =
    `Escalates ${percent(point.rate)} of requests, those for which "${JUDGE_LABELS[label]}" has a probability of ` +
    `${point.threshold.toFixed(3)} or more; ${percent(point.quality)} [${percent(point.low)}, ${percent(point.high)}] ${what}.` +
    (guaranteed
      ? ""
      : ` Nothing is guaranteed: ${requests} labelled requests are fewer than ${GUARANTEE_FROM}.`);
  return { ...point, requests, guaranteed, sentence };
}
