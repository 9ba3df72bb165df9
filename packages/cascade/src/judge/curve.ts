import type { JudgeCurvePoint } from "@helm/contracts";
import { wilson } from "./wilson";

const STEPS = 100;
/** A probability that no answer reaches. */
export const NEVER = 1.01;

/**
 * For each hundredth of requests escalated, hardest first: the threshold, and the share of requests that are not kept
 * against the label. `requests` is how many of the answers are independent.
 */
export function drawCurve(
  probabilities: readonly number[],
  labels: readonly boolean[],
  requests: number,
): JudgeCurvePoint[] {
  const hardest = probabilities
    .map((probability, i) => ({ probability, label: labels[i] ?? false }))
    .sort((a, b) => b.probability - a.probability);
  const missed = [hardest.filter(({ label }) => label).length];
  for (const { label } of hardest) missed.push((missed.at(-1) ?? 0) - (label ? 1 : 0));
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const rate = step / STEPS;
    const count = Math.round(rate * hardest.length);
    const quality = 1 - (missed[count] ?? 0) / hardest.length;
    // All of them, also answers easier than any that was seen.
    const threshold =
      count === 0 ? NEVER : count === hardest.length ? 0 : (hardest[count - 1]?.probability ?? NEVER);
    return { rate, threshold, quality, ...wilson(quality, requests) };
  });
}

/** The area under the ROC curve: how often an answer with the label scores above one without, ties half. */
export function rankingQuality(scores: readonly number[], labels: readonly boolean[]): number {
  const order = scores.map((_, i) => i).sort((a, b) => (scores[a] ?? 0) - (scores[b] ?? 0));
  let rankSum = 0;
  let positives = 0;
  for (let at = 0; at < order.length; ) {
    let end = at;
    while (end < order.length && scores[order[end] ?? 0] === scores[order[at] ?? 0]) end++;
    const rank = (at + end + 1) / 2;
    for (; at < end; at++) {
      if (!labels[order[at] ?? 0]) continue;
      positives++;
      rankSum += rank;
    }
  }
  const negatives = scores.length - positives;
  if (positives === 0 || negatives === 0) return 0.5;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}
