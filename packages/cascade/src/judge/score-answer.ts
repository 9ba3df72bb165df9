import type { JudgeModel } from "@helm/contracts";
import type { AnswerEvidence } from "../evidence";
import { readFeatures } from "./features";
import { calibrate } from "./isotonic";

/**
 * The probability of the table's label for one answer; null where a feature that the table reads is not in evidence, or where
 * its numbers leave the range of numbers: what is not a number is below every threshold and would keep everything.
 */
export function scoreAnswer(model: JudgeModel, answer: AnswerEvidence): number | null {
  const found = readFeatures(answer);
  if (found === null) return null;
  let score = model.bias;
  for (const { name, mean, scale, weight } of model.features) {
    const value = found[name];
    if (value === undefined) return null;
    score += (weight * (value - mean)) / scale;
  }
  return Number.isNaN(score) ? null : calibrate(model.knots, score);
}

/** Whether the engine has to name the two likeliest tokens. */
export function readsMargins(model: Pick<JudgeModel, "features">): boolean {
  return model.features.some(({ name }) => name.includes("margin"));
}
