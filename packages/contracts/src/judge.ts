import { z } from "zod";
import { INT32_MAX, text } from "./text";

/** What the probability of a judge is of. With a verifier it is known which answer is better, without one only that they differ. */
export const JudgeLabel = z.enum(["target_differs", "target_better"]);
export type JudgeLabel = z.infer<typeof JudgeLabel>;

export const JUDGE_LABELS: Record<JudgeLabel, string> = {
  target_differs: "target would answer differently",
  target_better: "target's answer is better",
};

export const JUDGE_VERSION = "logistic-1";

/** Below so many labelled requests nothing is called guaranteed. */
export const GUARANTEE_FROM = 500;

/** Of an answer's own tokens; thinking and the boilerplate of tool calls are left out. */
export const JudgeFeature = z.enum([
  "mean_logprob",
  "min_logprob",
  "logprob_q05",
  "logprob_q10",
  "logprob_q25",
  "logprob_q50",
  "min_margin",
  "margin_q10",
  "margin_q50",
  "log_tokens",
  "ended",
  "refused",
]);
export type JudgeFeature = z.infer<typeof JudgeFeature>;

export const JUDGE_FEATURES: Record<JudgeFeature, string> = {
  mean_logprob: "mean token log-probability",
  min_logprob: "least token log-probability",
  logprob_q05: "5 % quantile of the log-probabilities",
  logprob_q10: "10 % quantile of the log-probabilities",
  logprob_q25: "25 % quantile of the log-probabilities",
  logprob_q50: "median log-probability",
  min_margin: "least lead of the likeliest token over the next",
  margin_q10: "10 % quantile of that lead",
  margin_q50: "median of that lead",
  log_tokens: "length, as the logarithm of the tokens seen",
  ended: "the answer ended by itself within what was seen",
  refused: "the answer says that it will not or cannot",
};

const Nats = z.number().min(-10_000).max(0);

/** A pilot's answer beside what the target made of the same request. One array entry for each token of the answer. */
export const JudgeRow = z
  .object({
    id: text(300),
    /** Requests of one conversation or sequence share it: they are never split between fitting and measuring. */
    group: text(300),
    domain: text(200),
    tokens: z.array(text(400)).min(1).max(4096),
    logprobs: z.array(Nats).min(1).max(4096),
    /** Log-probability of the likeliest token less that of the next; null where the engine did not say. */
    margins: z.array(z.number().min(0).max(10_000)).min(1).max(4096).nullish(),
    finish: z.enum(["stop", "length"]),
    /** Whether the target's own answer is another one. */
    differs: z.boolean(),
    /** With a verifier: what each answer is worth, 0 to 1. */
    quality: z.object({ pilot: z.number().min(0).max(1), target: z.number().min(0).max(1) }).nullish(),
    /** Device time that each model took for the whole request. */
    device_ms: z.object({ pilot: z.number().min(0), target: z.number().min(0) }).nullish(),
  })
  .refine(
    ({ tokens, logprobs, margins }) =>
      logprobs.length === tokens.length && (!margins || margins.length === tokens.length),
    "tokens, logprobs and margins must be as many",
  );
export type JudgeRow = z.infer<typeof JudgeRow>;

const Share = z.number().min(0).max(1);

/** What escalating this share of requests gives, on answers that neither weights nor steps were fitted on. */
export const JudgeCurvePoint = z.object({
  rate: Share,
  /** Escalate from this probability on; above 1 nothing is. */
  threshold: z.number().min(0).max(2),
  /** Share of requests that are kept only where the label does not hold, with its 95 % Wilson interval. */
  quality: Share,
  low: Share,
  high: Share,
});
export type JudgeCurvePoint = z.infer<typeof JudgeCurvePoint>;

/** How the score becomes a probability: piecewise linear between the knots, constant beyond them. */
export const JudgeKnot = z.object({ score: z.number(), probability: Share });
export type JudgeKnot = z.infer<typeof JudgeKnot>;

/** What a node needs of a judge to apply it. */
export const JudgeModel = z.object({
  version: text(40),
  /** A judge is for answers seen whole, or for their first `window` tokens; never one for the other. */
  streaming: z.enum(["buffer", "window"]),
  window: z.number().int().min(1).max(4096).nullable(),
  label: JudgeLabel,
  features: z
    .array(
      z.object({
        name: JudgeFeature,
        mean: z.number(),
        scale: z.number().positive(),
        weight: z.number(),
      }),
    )
    .min(1)
    .max(JudgeFeature.options.length),
  bias: z.number(),
  knots: z.array(JudgeKnot).min(1).max(2_000),
});
export type JudgeModel = z.infer<typeof JudgeModel>;

/** Fields of a table, each by itself. */
export const JudgeTableFields = JudgeModel.extend({
  v: z.literal(1),
  type: z.literal("judge_table"),
  pair: z.object({ source: text(300), target: text(300) }),
  weights: z.object({ source: text(64).nullable(), target: text(64).nullable() }),
  /** Where the labelled answers come from. */
  origin: z.object({ kind: z.enum(["probes", "tasks", "file"]), name: text(300) }),
  fitted_at: z.iso.datetime(),
  /** Labelled answers; requests: how many of them are independent, which is what the intervals go by. */
  n: z.number().int().min(1).max(INT32_MAX),
  requests: z.number().int().min(1).max(INT32_MAX),
  positives: z.number().int().min(0).max(INT32_MAX),
  /** On held-out answers: how well it ranks (0.5: by chance), and the mean squared error of the probability. */
  held_out: z.object({ folds: z.number().int().min(2), auc: Share, brier: Share }),
  /** Mean device time of a request, where it was measured. */
  device_ms: z.object({ pilot: z.number().min(0), target: z.number().min(0) }).nullable(),
  curve: z.array(JudgeCurvePoint).min(2).max(1_001),
});

/** One calibration of the judge: for a pilot beside a target, a judge's version, a streaming mode and a window. */
export const JudgeTable = JudgeTableFields.refine(
  ({ streaming, window }) => (streaming === "window") === (window !== null),
  "a table for windows says how many tokens, one for whole answers says none",
);
export type JudgeTable = z.infer<typeof JudgeTable>;

/** How a route chooses its threshold: by how much may be escalated, or by the quality that must be kept. */
export const JudgeBy = z.union([
  z.strictObject({ escalation_rate: Share }),
  z.strictObject({ quality_floor: Share }),
]);
export type JudgeBy = z.infer<typeof JudgeBy>;

/** A threshold with what it is expected to do, and by how many labelled requests that is known. */
export const JudgeThreshold = JudgeCurvePoint.extend({
  requests: z.number().int(),
  guaranteed: z.boolean(),
  sentence: z.string(),
});
export type JudgeThreshold = z.infer<typeof JudgeThreshold>;

/** A judge as a routing snapshot carries it. */
export const ServedJudge = JudgeModel.extend({ sha256: z.string(), threshold: z.number() });
export type ServedJudge = z.infer<typeof ServedJudge>;
