import type { Estimate, SequenceCounts, Warning } from "@helm/contracts";
import { bootstrap, LEAST_SEQUENCES } from "./bootstrap";

export interface AgainstPilot {
  net_rescue: Estimate | null;
  gold_gain: Estimate | null;
  warning: Extract<Warning, "NOT_ABOVE_PILOT" | "TARGET_NOT_BETTER"> | null;
}

/**
 * Whether the transferred target beats the pilot: lower bounds above 0 of the paired gain on gold tokens and of the net
 * rescue (as a share of all counted positions). What was not measured, or on fewer gold texts than an interval takes, shows
 * nothing, so it counts as not above.
 */
export function compareWithPilot(sequences: SequenceCounts[]): AgainstPilot {
  const net_rescue = netRescue(sequences);
  const gold_gain = meanOf(sequences.map((s) => s.gold_gain));
  const native = meanOf(sequences.map((s) => s.native_gold_gain));
  const gold = gold_gain !== null && gold_gain.n >= LEAST_SEQUENCES && gold_gain.low > 0;
  if (net_rescue !== null && net_rescue.low > 0 && gold) return { net_rescue, gold_gain, warning: null };
  const targetBetter = native === null || native.low > 0;
  return { net_rescue, gold_gain, warning: targetBetter ? "NOT_ABOVE_PILOT" : "TARGET_NOT_BETTER" };
}

function netRescue(sequences: SequenceCounts[]): Estimate | null {
  const known = sequences.filter((s) => s.recovered != null && s.lost != null);
  const rows = new Float64Array(known.length * 2);
  known.forEach((s, row) => {
    rows[row * 2] = (s.recovered ?? 0) - (s.lost ?? 0);
    rows[row * 2 + 1] = s.first.total + s.early.total + s.late.total;
  });
  const ratio = ([net = 0, positions = 0]: Float64Array) => (positions > 0 ? net / positions : 0);
  return estimate(rows, 2, ratio, known.length);
}

function meanOf(values: (number | null | undefined)[]): Estimate | null {
  const rows = Float64Array.from(values.filter((value) => value != null));
  return estimate(rows, 1, ([sum = 0], drawn) => sum / drawn, rows.length);
}

function estimate(
  rows: Float64Array,
  width: number,
  statistic: (sums: Float64Array, drawn: number) => number,
  n: number,
): Estimate | null {
  if (n === 0) return null;
  const sums = new Float64Array(width);
  for (const [i, value] of rows.entries()) sums[i % width] = (sums[i % width] ?? 0) + value;
  return { value: statistic(sums, n), ...bootstrap(rows, width, statistic), n };
}
