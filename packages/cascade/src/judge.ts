import { type LogprobSummary, summariseLogprobs } from "./evidence";
import type { DecisionReason } from "./reasons";

export const JUDGE_VERSION = "logprob-v0";

/** Both bounds are log-probabilities in nats: an answer below either of them is escalated. */
export interface JudgeThresholds {
  mean_logprob: number;
  min_logprob: number;
}

export type Judgement =
  | { outcome: "keep"; reason: Extract<DecisionReason, "CONFIDENT">; evidence: LogprobSummary }
  | { outcome: "escalate"; reason: Extract<DecisionReason, "LOW_MEAN" | "LOW_MIN">; evidence: LogprobSummary }
  | { outcome: "no_evidence" };

/** Judges the answers of one request (n of them); the least sure decides, and one without evidence spoils all. */
export function judgeAnswers(
  answers: readonly (readonly (number | null)[])[],
  thresholds: JudgeThresholds,
): Judgement {
  let least: LogprobSummary | null = null;
  for (const answer of answers) {
    const summary = summariseLogprobs(answer);
    if (summary === null) return { outcome: "no_evidence" };
    if (least === null || margin(summary, thresholds) < margin(least, thresholds)) least = summary;
  }
  if (least === null) return { outcome: "no_evidence" };
  if (least.mean < thresholds.mean_logprob)
    return { outcome: "escalate", reason: "LOW_MEAN", evidence: least };
  if (least.min < thresholds.min_logprob) return { outcome: "escalate", reason: "LOW_MIN", evidence: least };
  return { outcome: "keep", reason: "CONFIDENT", evidence: least };
}

/** How far an answer is above the nearer bound; negative means escalate. */
function margin(summary: LogprobSummary, thresholds: JudgeThresholds): number {
  return Math.min(summary.mean - thresholds.mean_logprob, summary.min - thresholds.min_logprob);
}
