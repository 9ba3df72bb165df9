import type { Estimate, RunComparison, SequenceCounts } from "@helm/contracts";
import { bootstrap } from "./bootstrap";
import { inSplit } from "./check-counts";
import { BUCKETS, meanOfBuckets, share, toColumns } from "./pool";

/** Both runs' six columns side by side. */
const WIDTH = 12;
/** Fewer shared sequences give no interval worth showing. */
const LEAST_SHARED = 16;

/**
 * How much better the second run's mapper does than the first's, on the gate sequences that both were scored on: the
 * same sequences are drawn for both in every resample, so what is common to them cancels. Counts as `assess` takes them.
 */
export function compareRuns(first: SequenceCounts[], second: SequenceCounts[]): RunComparison {
  const others = new Map(inSplit(second, "gate").map((row) => [row.id, row]));
  const pairs = inSplit(first, "gate").flatMap((row) => {
    const other = others.get(row.id);
    return other ? [[row, other] as const] : [];
  });
  if (pairs.length < LEAST_SHARED) {
    const reason = `The two runs share ${pairs.length} probe sequences; at least ${LEAST_SHARED} are needed to compare them.`;
    return { comparable: false, reason };
  }
  const odd = pairs.find(([a, b]) => differ(a, b));
  if (odd) {
    const reason = `What the two runs call ${odd[0].id} is not the same text, or was scored at other positions: their probes or models differ.`;
    return { comparable: false, reason };
  }
  const rows = sideBySide(pairs);
  const estimate = (statistic: (sums: Float64Array) => number): Estimate => ({
    value: statistic(sumsOf(rows)),
    ...bootstrap(rows, WIDTH, statistic),
    n: pairs.length,
  });
  const difference = estimate((sums) => meanOfBuckets(sums.subarray(6)) - meanOfBuckets(sums.subarray(0, 6)));
  const bucket = (at: number) => estimate((sums) => shareAt(sums, at + 6) - shareAt(sums, at));
  const sums = sumsOf(rows);
  return {
    comparable: true,
    shared: pairs.length,
    first: meanOfBuckets(sums.subarray(0, 6)),
    second: meanOfBuckets(sums.subarray(6)),
    difference,
    buckets: { first: bucket(0), early: bucket(2), late: bucket(4) },
    outcome: outcomeOf(difference),
    sentence: sentenceOf(difference),
  };
}

function differ(a: SequenceCounts, b: SequenceCounts): boolean {
  const otherText = a.digest != null && b.digest != null && a.digest !== b.digest;
  return otherText || BUCKETS.some((bucket) => a[bucket].total !== b[bucket].total);
}

function sideBySide(pairs: (readonly [SequenceCounts, SequenceCounts])[]): Float64Array {
  const first = toColumns(pairs.map(([row]) => row)).counts;
  const second = toColumns(pairs.map(([, row]) => row)).counts;
  const rows = new Float64Array(pairs.length * WIDTH);
  for (let i = 0; i < pairs.length; i++) {
    rows.set(first.subarray(i * 6, i * 6 + 6), i * WIDTH);
    rows.set(second.subarray(i * 6, i * 6 + 6), i * WIDTH + 6);
  }
  return rows;
}

function sumsOf(rows: Float64Array): Float64Array {
  const sums = new Float64Array(WIDTH);
  for (const [i, value] of rows.entries()) sums[i % WIDTH] = (sums[i % WIDTH] ?? 0) + value;
  return sums;
}

function shareAt(sums: Float64Array, at: number): number {
  return share(sums[at] ?? 0, sums[at + 1] ?? 0);
}

function outcomeOf({ low, high }: Estimate): "second_better" | "first_better" | "not_told_apart" {
  if (low > 0) return "second_better";
  return high < 0 ? "first_better" : "not_told_apart";
}

function sentenceOf(difference: Estimate): string {
  const points = (value: number) => (100 * value).toFixed(2);
  const interval = `95 % interval ${points(difference.low)} to ${points(difference.high)}, ${difference.n} shared sequences`;
  switch (outcomeOf(difference)) {
    case "second_better":
      return `The second run retains ${points(difference.value)} points more (${interval}).`;
    case "first_better":
      return `The second run retains ${points(-difference.value)} points less (difference ${points(difference.value)}, ${interval}).`;
    case "not_told_apart":
      return `The two runs are not told apart: a difference of ${points(difference.value)} points (${interval}).`;
  }
}
