import type { JudgeLabel, JudgeModel } from "@helm/contracts";
import { type AnswerEvidence, type LogprobSummary, summariseLogprobs } from "../evidence";
import type { DecisionReason } from "../reasons";
import { type Features, readFeatures } from "./features";
import { scoreAnswer } from "./score-answer";
import { breaksFormat } from "./text-rules";

export const FIRST_JUDGE = "logprob-1";

/** Both bounds are log-probabilities in nats: an answer below either of them is escalated. */
export interface JudgeThresholds {
  mean_logprob: number;
  min_logprob: number;
}

/** A calibrated judge with its threshold, or the two bounds where none holds. */
export type JudgeRule =
  | { kind: "table"; table: JudgeModel & { threshold: number } }
  | ({ kind: "bounds" } & JudgeThresholds);

export interface JudgedEvidence extends LogprobSummary {
  version: string;
  /** Probability of the table's label, and from where on it escalates; null of the two bounds. */
  score: number | null;
  threshold: number | null;
  label: JudgeLabel | null;
  features: Features;
}

export type Judgement =
  | { outcome: "keep"; reason: Extract<DecisionReason, "CONFIDENT">; evidence: JudgedEvidence }
  | {
      outcome: "escalate";
      reason: Extract<DecisionReason, "LOW_MEAN" | "LOW_MIN" | "JUDGED_HARD" | "FORMAT_BROKEN">;
      evidence: JudgedEvidence;
    }
  | { outcome: "no_evidence" };

/** Judges the answers of one request (n of them); the least sure decides, and one without evidence spoils all. */
export function judgeAnswers(answers: readonly AnswerEvidence[], rule: JudgeRule): Judgement {
  let least: { evidence: JudgedEvidence; margin: number } | null = null;
  let broken = false;
  for (const answer of answers) {
    const looked = look(answer, rule);
    if (looked === null) return { outcome: "no_evidence" };
    broken ||= breaksFormat(answer);
    if (least === null || looked.margin < least.margin) least = looked;
  }
  if (least === null) return { outcome: "no_evidence" };
  const { evidence } = least;
  if (broken) return { outcome: "escalate", reason: "FORMAT_BROKEN", evidence };
  const reason = whyHard(evidence, rule);
  return reason === null
    ? { outcome: "keep", reason: "CONFIDENT", evidence }
    : { outcome: "escalate", reason, evidence };
}

/** `margin` is how far an answer is from being escalated; negative where it is. */
function look(answer: AnswerEvidence, rule: JudgeRule): { evidence: JudgedEvidence; margin: number } | null {
  const summary = summariseLogprobs(answer.tokens.map(({ logprob }) => logprob));
  if (summary === null) return null;
  if (rule.kind === "bounds") {
    const margin = Math.min(summary.mean - rule.mean_logprob, summary.min - rule.min_logprob);
    const features = { mean_logprob: summary.mean, min_logprob: summary.min };
    const nothing = { score: null, threshold: null, label: null };
    return { evidence: { ...summary, ...nothing, version: FIRST_JUDGE, features }, margin };
  }
  const { version, threshold, label } = rule.table;
  const score = scoreAnswer(rule.table, answer);
  return score === null
    ? null
    : {
        evidence: { ...summary, version, score, threshold, label, features: readFeatures(answer) ?? {} },
        margin: threshold - score,
      };
}

function whyHard({ mean, min, score }: JudgedEvidence, rule: JudgeRule) {
  if (rule.kind === "table") return (score ?? 1) >= rule.table.threshold ? ("JUDGED_HARD" as const) : null;
  if (mean < rule.mean_logprob) return "LOW_MEAN" as const;
  return min < rule.min_logprob ? ("LOW_MIN" as const) : null;
}
