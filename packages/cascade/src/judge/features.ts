import type { JudgeFeature } from "@helm/contracts";
import { type AnswerEvidence, summariseLogprobs } from "../evidence";
import { quantile } from "./quantile";
import { isRefusal, textOf } from "./text-rules";

export type Features = Partial<Record<JudgeFeature, number>>;

/**
 * What a judge reads of one answer; null without evidence. The features of the lead are absent where the engine named
 * no second likeliest token for any of the answer's tokens.
 */
export function readFeatures(answer: AnswerEvidence): Features | null {
  const summary = summariseLogprobs(answer.tokens.map(({ logprob }) => logprob));
  if (summary === null) return null;
  const logprobs = ascending(answer.tokens.map(({ logprob }) => Math.min(0, logprob ?? 0)));
  const margins = ascending(
    answer.tokens.flatMap(({ margin }) => (margin !== null && Number.isFinite(margin) ? [margin] : [])),
  );
  const found: Features = {
    mean_logprob: summary.mean,
    min_logprob: summary.min,
    logprob_q05: quantile(logprobs, 0.05),
    logprob_q10: quantile(logprobs, 0.1),
    logprob_q25: quantile(logprobs, 0.25),
    logprob_q50: quantile(logprobs, 0.5),
    log_tokens: Math.log(1 + answer.tokens.length),
    ended: answer.finish === null || answer.finish === "length" ? 0 : 1,
    refused: isRefusal(textOf(answer)) ? 1 : 0,
  };
  if (margins.length === 0) return found;
  return {
    ...found,
    min_margin: margins[0],
    margin_q10: quantile(margins, 0.1),
    margin_q50: quantile(margins, 0.5),
  };
}

function ascending(values: number[]): number[] {
  return values.sort((a, b) => a - b);
}
