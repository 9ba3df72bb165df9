import type { Estimate, RunComparison, SequenceCounts } from "@helm/contracts";
import { bootstrap, unpairedInterval } from "./bootstrap";
import { inSplit } from "./check-counts";
import { BUCKETS, meanOfBuckets, share, toColumns } from "./pool";

/** Both runs' six columns side by side. */
const WIDTH = 12;
/** Fewer shared sequences give no interval worth showing. */
const LEAST_SHARED = 16;

/**
 * How much better the second run's mapper does than the first's. On the gate sequences that both were scored on, where
 * there are enough: the same sequences are drawn for both in every resample, so what is common to them cancels. Else over
 * each run's own gate sequences, drawn apart. Counts as `assess` takes them.
 */
export function compareRuns(
  first: SequenceCounts[],
  second: SequenceCounts[],
  differentProbes: string | null = null,
): RunComparison {
  const mine = inSplit(first, "gate");
  const theirs = inSplit(second, "gate");
  const others = new Map(theirs.map((row) => [row.id, row]));
  const pairs = mine.flatMap((row) => {
    const other = others.get(row.id);
    return other ? [[row, other] as const] : [];
  });
  const odd = pairs.find(([a, b]) => differ(a, b));
  const apart =
    differentProbes ??
    (odd
      ? `What the two runs call ${odd[0].id} is not the same text, or was scored at other positions.`
      : pairs.length < LEAST_SHARED
        ? `The two runs share ${pairs.length} probe sequences; at least ${LEAST_SHARED} are needed to pair them.`
        : null);
  return apart === null ? paired(pairs) : unpaired(mine, theirs, apart);
}

function paired(pairs: (readonly [SequenceCounts, SequenceCounts])[]): RunComparison {
  const rows = sideBySide(pairs);
  const estimate = (statistic: (sums: Float64Array) => number): Estimate => ({
    value: statistic(sumsOf(rows, WIDTH)),
    ...bootstrap(rows, WIDTH, statistic),
    n: pairs.length,
  });
  const difference = estimate((sums) => meanOfBuckets(sums.subarray(6)) - meanOfBuckets(sums.subarray(0, 6)));
  const bucket = (at: number) => estimate((sums) => shareAt(sums, at + 6) - shareAt(sums, at));
  const sums = sumsOf(rows, WIDTH);
  return {
    comparable: true,
    paired: true,
    note: null,
    shared: pairs.length,
    sequences: { first: pairs.length, second: pairs.length },
    first: meanOfBuckets(sums.subarray(0, 6)),
    second: meanOfBuckets(sums.subarray(6)),
    difference,
    buckets: { first: bucket(0), early: bucket(2), late: bucket(4) },
    outcome: outcomeOf(difference),
    sentence: sentenceOf(difference, `${difference.n} shared sequences`),
  };
}

/** Wider intervals: how hard the probes of either run happen to be is in them too. */
function unpaired(first: SequenceCounts[], second: SequenceCounts[], why: string): RunComparison {
  if (Math.min(first.length, second.length) < LEAST_SHARED) {
    return { comparable: false, reason: `${why} One of them has too few sequences for an interval.` };
  }
  const [one, two] = [toColumns(first).counts, toColumns(second).counts];
  const n = Math.min(first.length, second.length);
  const estimate = (statistic: (sums: Float64Array) => number): Estimate => ({
    value: statistic(sumsOf(two, 6)) - statistic(sumsOf(one, 6)),
    ...unpairedInterval(one, two, 6, statistic),
    n,
  });
  const difference = estimate(meanOfBuckets);
  const bucket = (at: number) => estimate((sums) => shareAt(sums, at));
  return {
    comparable: true,
    paired: false,
    note: `${why} The difference holds what makes one run's probes harder than the other's as well.`,
    shared: 0,
    sequences: { first: first.length, second: second.length },
    first: meanOfBuckets(sumsOf(one, 6)),
    second: meanOfBuckets(sumsOf(two, 6)),
    difference,
    buckets: { first: bucket(0), early: bucket(2), late: bucket(4) },
    outcome: outcomeOf(difference),
    sentence: sentenceOf(difference, `unpaired, ${first.length} and ${second.length} sequences`),
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

function sumsOf(rows: Float64Array, width: number): Float64Array {
  const sums = new Float64Array(width);
  for (const [i, value] of rows.entries()) sums[i % width] = (sums[i % width] ?? 0) + value;
  return sums;
}

function shareAt(sums: Float64Array, at: number): number {
  return share(sums[at] ?? 0, sums[at + 1] ?? 0);
}

function outcomeOf({ low, high }: Estimate): "second_better" | "first_better" | "not_told_apart" {
  if (low > 0) return "second_better";
  return high < 0 ? "first_better" : "not_told_apart";
}

function sentenceOf(difference: Estimate, over: string): string {
  const points = (value: number) => (100 * value).toFixed(2);
  const interval = `95 % interval ${points(difference.low)} to ${points(difference.high)}, ${over}`;
  switch (outcomeOf(difference)) {
    case "second_better":
      return `The second run retains ${points(difference.value)} points more (${interval}).`;
    case "first_better":
      return `The second run retains ${points(-difference.value)} points less (difference ${points(difference.value)}, ${interval}).`;
    case "not_told_apart":
      return `The two runs are not told apart: a difference of ${points(difference.value)} points (${interval}).`;
  }
}
