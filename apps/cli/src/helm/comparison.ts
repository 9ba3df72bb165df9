import type { Estimate, RunComparison } from "@helm/contracts";
import { table } from "../terminal/style";

/** Two runs of a pair: what the second gains on the first, in points, as a whole and in each bucket. */
export function comparisonLines(comparison: RunComparison): string[] {
  if (!comparison.comparable) return [`Not comparable: ${comparison.reason}`];
  const { difference, buckets, first, second, sentence, note, sequences } = comparison;
  const rows = [
    row("retention", difference),
    row("1st token", buckets.first),
    row("2-16", buckets.early),
    row("17-64", buckets.late),
  ];
  return [
    sentence,
    ...(note === null ? [] : [note]),
    `Retention on these sequences: first ${first.toFixed(3)} (${sequences.first}), second ${second.toFixed(3)} (${sequences.second}).`,
    "",
    ...table(["second less first", "points", "95 % interval"], rows, [1, 2]),
  ];
}

function row(name: string, { value, low, high }: Estimate): string[] {
  return [name, points(value), `${points(low)} to ${points(high)}`];
}

function points(value: number): string {
  return `${value < 0 ? "" : "+"}${(100 * value).toFixed(2)}`;
}
