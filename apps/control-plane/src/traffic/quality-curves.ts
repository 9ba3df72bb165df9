import { z } from "zod";

const Point = z.object({
  /** Share of requests that are escalated. */
  rate: z.number(),
  /** Mean device time a request, both models' together. */
  costMs: z.number(),
  quality: z.number(),
});
export const Curves = z.object({
  judge: z.array(Point),
  random: z.array(Point),
  oracle: z.array(Point),
  pilotOnly: Point,
  targetOnly: Point,
  now: Point,
});

export const MOST_POINTS = 41;

/** One request of which both answers are known. */
export interface JudgedRequest {
  /** Quality of each answer. */
  pilot: number;
  target: number;
  /** The judge's: the higher, the sooner it is escalated. */
  score: number;
  escalate: boolean;
  pilotMs: number;
  targetMs: number;
  /** How many requests it stands for. */
  weight: number;
}

type PointOf = z.infer<typeof Point>;

/** Quality against cost along three orders of escalating: the judge's, chance, and by what is really gained. */
export function qualityCurves(requests: readonly JudgedRequest[], points: number): z.infer<typeof Curves> {
  const whole = requests.reduce((all, { weight }) => all + weight, 0);
  const mean = (of: (request: JudgedRequest) => number) =>
    requests.reduce((all, request) => all + request.weight * of(request), 0) / whole;
  const none: PointOf = { rate: 0, costMs: mean((r) => r.pilotMs), quality: mean((r) => r.pilot) };
  const all: PointOf = {
    rate: 1,
    costMs: mean((r) => r.pilotMs + r.targetMs),
    quality: mean((r) => r.target),
  };
  const rates = Array.from({ length: points }, (_, at) => at / (points - 1));
  const along = (order: JudgedRequest[]) => rates.map((rate) => walk(order, rate, none, whole));
  const now: PointOf = {
    rate: mean((r) => Number(r.escalate)),
    costMs: mean((r) => r.pilotMs + (r.escalate ? r.targetMs : 0)),
    quality: mean((r) => (r.escalate ? r.target : r.pilot)),
  };
  return {
    judge: along([...requests].sort((a, b) => b.score - a.score)),
    random: rates.map((rate) => ({
      rate,
      costMs: none.costMs + rate * (all.costMs - none.costMs),
      quality: none.quality + rate * (all.quality - none.quality),
    })),
    oracle: along([...requests].sort((a, b) => b.target - b.pilot - (a.target - a.pilot))),
    pilotOnly: none,
    // Asked directly the pilot costs nothing.
    targetOnly: { rate: 1, costMs: mean((r) => r.targetMs), quality: all.quality },
    now,
  };
}

/** The first `rate` of the weight in this order is escalated; the request on the edge in part. */
function walk(order: readonly JudgedRequest[], rate: number, none: PointOf, whole: number): PointOf {
  let left = rate * whole;
  let { costMs, quality } = none;
  for (const request of order) {
    const taken = Math.min(left, request.weight);
    if (taken <= 0) break;
    costMs += (taken / whole) * request.targetMs;
    quality += (taken / whole) * (request.target - request.pilot);
    left -= taken;
  }
  return { rate, costMs, quality };
}
