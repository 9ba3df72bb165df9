import type { JudgeKnot } from "@helm/contracts";
import { sigmoid } from "./logistic";

/**
 * Isotonic regression by pooling adjacent violators: the non-decreasing steps nearest to the labels. A knot stands in
 * the middle of each step's scores; equal scores are one step.
 */
export function fitIsotonic(scores: readonly number[], labels: readonly boolean[]): JudgeKnot[] {
  const order = scores.map((_, i) => i).sort((a, b) => (scores[a] ?? 0) - (scores[b] ?? 0));
  const steps: { from: number; to: number; scores: number; positives: number; count: number }[] = [];
  for (const i of order) {
    const score = scores[i] ?? 0;
    steps.push({ from: score, to: score, scores: score, positives: labels[i] ? 1 : 0, count: 1 });
    for (;;) {
      const last = steps.at(-1);
      const before = steps.at(-2);
      if (!last || !before) break;
      const violates = before.positives * last.count >= last.positives * before.count;
      if (!violates && before.to !== last.from) break;
      steps.splice(-2, 2, {
        from: before.from,
        to: last.to,
        scores: before.scores + last.scores,
        positives: before.positives + last.positives,
        count: before.count + last.count,
      });
    }
  }
  return steps.map(({ scores, positives, count }) => ({
    score: scores / count,
    probability: positives / count,
  }));
}

/** How much of the probability is the plain logistic one: so little that it only parts what would else be ties. */
const TIE_BREAK = 1e-3;

/** The probability of a score: between the knots by straight lines, beyond them constant, and strictly rising all the way. */
export function calibrate(knots: readonly JudgeKnot[], score: number): number {
  return (1 - TIE_BREAK) * interpolate(knots, score) + TIE_BREAK * sigmoid(score);
}

function interpolate(knots: readonly JudgeKnot[], score: number): number {
  let low = 0;
  let high = knots.length - 1;
  const first = knots[low];
  const last = knots[high];
  if (!first || !last) return 0.5;
  if (score <= first.score) return first.probability;
  if (score >= last.score) return last.probability;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((knots[middle]?.score ?? 0) <= score) low = middle;
    else high = middle;
  }
  const [a, b] = [knots[low] ?? first, knots[high] ?? last];
  const share = b.score > a.score ? (score - a.score) / (b.score - a.score) : 1;
  // Written so that rounding cannot leave the two ends.
  return Math.min(
    b.probability,
    Math.max(a.probability, a.probability + share * (b.probability - a.probability)),
  );
}
