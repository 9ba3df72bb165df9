import { z } from "zod";

/** Accuracy through the transferred cache over the target's own, on the same documents. Never called retention. */
export const AccuracyRetention = z.object({ value: z.number(), low: z.number(), high: z.number() });
export type AccuracyRetention = z.infer<typeof AccuracyRetention>;

/** One task of the harness, or the pooled documents of a group of tasks; then its parts name it as their `group`. */
export const EvaluationTask = z.object({
  task: z.string().min(1).max(120),
  group: z.string().max(120).nullish(),
  metric: z.string().min(1).max(60),
  /** False for a perplexity, which has no accuracy retention. */
  higher_is_better: z.boolean(),
  /** Documents, the same for all three. */
  n: z.number().int().min(1),
  pilot: z.number().min(0),
  target: z.number().min(0),
  transferred: z.number().min(0),
  /** Null where it says nothing; `left_out` says why. */
  accuracy_retention: AccuracyRetention.nullable(),
  left_out: z.string().max(300).nullish(),
  /** Paired difference to the pilot, transferred less pilot. */
  above_pilot: AccuracyRetention.nullish(),
  /** Share of the context tokens that came through the mapper; the others are the exact tail. */
  mapped_share: z.number().min(0).max(1).nullish(),
});
export type EvaluationTask = z.infer<typeof EvaluationTask>;

export const EvaluationWarning = z.object({
  /** The transferred target answers worse than the pilot alone: a transfer that costs more than it brings. */
  code: z.literal("ACCURACY_BELOW_PILOT"),
  task: z.string().max(120),
  message: z.string().max(300),
});
export type EvaluationWarning = z.infer<typeof EvaluationWarning>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "is no sha256");

/** The last line of `lifeboat helm evaluate --json`, and what `evaluation.record` stores. */
export const Evaluation = z.object({
  v: z.literal(1),
  type: z.literal("evaluation"),
  at: z.string().max(40),
  pair: z.object({ source: z.string().max(200), target: z.string().max(200) }),
  /** Digests of both models' weights: what the pair is beyond its names. */
  weights: z.object({ source: Sha256, target: Sha256 }),
  mapper_sha256: Sha256,
  tasks: z.array(EvaluationTask).min(1).max(500),
  /** Mean of the accuracy retention of the tasks without a group; `tasks` says of how many. */
  mean: AccuracyRetention.extend({ tasks: z.number().int().min(1) }).nullable(),
  warnings: z.array(EvaluationWarning).max(500),
  /** Documents of each task at most; null: all. */
  limit: z.number().int().min(1).nullable(),
  device: z.string().max(20),
  /** Measured on a CPU. */
  development: z.boolean(),
  versions: z.record(z.string().max(60), z.string().max(60)),
});
export type Evaluation = z.infer<typeof Evaluation>;

/** What `python -m lifeboat_kv evaluate` prints on the way, beside `log`, `failed` and the evaluation itself. */
export const EvaluationProgress = z.object({
  v: z.literal(1),
  type: z.literal("progress"),
  at: z.string(),
  /** "load", or the model that answers: pilot, target or transferred. */
  stage: z.enum(["load", "pilot", "target", "transferred"]),
  done: z.number(),
  total: z.number(),
  percent: z.number().min(0).max(100),
  rate: z.number().nullable(),
  unit: z.string(),
});
export type EvaluationProgress = z.infer<typeof EvaluationProgress>;
