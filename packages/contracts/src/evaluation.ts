import { z } from "zod";
import { Sha256 } from "./artifact-protocol";
import { INT32_MAX, text } from "./text";

/** Sums of shares in another order differ in their last digits. */
const CLOSE = 1e-6;
const close = (a: number, b: number) => Math.abs(a - b) <= CLOSE * Math.max(1, Math.abs(b));

/** Accuracy through the transferred cache over the target's own, on the same documents. Never called retention. */
export const AccuracyRetention = z
  .object({ value: z.number(), low: z.number(), high: z.number() })
  .refine(isOrdered, "is no interval around its value");
export type AccuracyRetention = z.infer<typeof AccuracyRetention>;

function isOrdered({ value, low, high }: { value: number; low: number; high: number }): boolean {
  return low <= value + CLOSE && value <= high + CLOSE;
}

/** One task of the harness, or the pooled documents of a group of tasks; then its parts name it as their `group`. */
export const EvaluationTask = z
  .object({
    task: text(120).min(1),
    group: text(120).nullish(),
    metric: text(60).min(1),
    /** False for a perplexity, which has no accuracy retention. */
    higher_is_better: z.boolean(),
    /** Documents, the same for all three. */
    n: z.number().int().min(1).max(INT32_MAX),
    pilot: z.number().min(0),
    target: z.number().min(0),
    transferred: z.number().min(0),
    /** Null where it says nothing; `left_out` says why. */
    accuracy_retention: AccuracyRetention.nullable(),
    left_out: text(300).nullish(),
    /** Paired difference to the pilot, transferred less pilot. */
    above_pilot: AccuracyRetention.nullish(),
    /** Share of the context tokens that came through the mapper; the others are the exact tail. */
    mapped_share: z.number().min(0).max(1).nullish(),
  })
  .superRefine((row, ctx) => {
    const wrong = (path: string, message: string) => ctx.addIssue({ code: "custom", path: [path], message });
    if (!row.higher_is_better) {
      if (row.accuracy_retention) wrong("accuracy_retention", "is none of a perplexity");
      return;
    }
    for (const model of ["pilot", "target", "transferred"] as const)
      if (row[model] > 1) wrong(model, "is no share of the documents");
    const { accuracy_retention: kept, above_pilot: above } = row;
    if (kept && !close(kept.value * row.target, row.transferred))
      wrong("accuracy_retention", "is not the transferred target's share over the target's own");
    if (above && !close(above.value, row.transferred - row.pilot))
      wrong("above_pilot", "is not the transferred target's share less the pilot's");
  });
export type EvaluationTask = z.infer<typeof EvaluationTask>;

export const EvaluationWarning = z.object({
  /** The transferred target answers worse than the pilot alone: a transfer that costs more than it brings. */
  code: z.literal("ACCURACY_BELOW_PILOT"),
  task: text(120),
  message: text(300),
});
export type EvaluationWarning = z.infer<typeof EvaluationWarning>;

/** Mean accuracy retention of the tasks that stand for themselves and have one; null where none has. */
export function meanOf(tasks: EvaluationTask[]): { value: number; tasks: number } | null {
  const kept = tasks.flatMap((row) =>
    row.group || !row.accuracy_retention ? [] : [row.accuracy_retention.value],
  );
  return kept.length === 0
    ? null
    : { value: kept.reduce((sum, value) => sum + value, 0) / kept.length, tasks: kept.length };
}

/** Rows whose transferred target answers worse than the pilot alone, by the interval of the difference. */
export function warningsOf(tasks: EvaluationTask[]): EvaluationWarning[] {
  return tasks.flatMap((row) => {
    const { task, above_pilot: gap } = row;
    // An interval that includes 0 does not tell the two apart; without one the values alone speak.
    const worse = gap ? gap.high < 0 : row.transferred < row.pilot;
    if (!row.higher_is_better || !worse) return [];
    const interval = gap
      ? `; the interval of the difference is [${gap.low.toFixed(3)}, ${gap.high.toFixed(3)}]`
      : "";
    const message = `${task}: the transferred target solves ${row.transferred.toFixed(3)}, the pilot alone ${row.pilot.toFixed(3)}${interval}`;
    return [{ code: "ACCURACY_BELOW_PILOT" as const, task, message }];
  });
}

/** The last line of `lifeboat helm evaluate --json`, and what `evaluation.record` stores. */
export const Evaluation = z
  .object({
    v: z.literal(1),
    type: z.literal("evaluation"),
    at: text(40),
    pair: z.object({ source: text(200), target: text(200) }),
    /** Digests of both models' weights: what the pair is beyond its names. */
    weights: z.object({ source: Sha256, target: Sha256 }),
    mapper_sha256: Sha256,
    tasks: z.array(EvaluationTask).min(1).max(500),
    /** Mean of the accuracy retention of the tasks without a group; `tasks` says of how many. */
    mean: AccuracyRetention.safeExtend({ tasks: z.number().int().min(1) }).nullable(),
    warnings: z.array(EvaluationWarning).max(500),
    /** Documents of each task at most; null: all. */
    limit: z.number().int().min(1).nullable(),
    device: text(20),
    /** Measured on a CPU, or with a mapper that was fitted on one. */
    development: z.boolean(),
    versions: z.record(text(60), text(60)).refine((all) => Object.keys(all).length <= 50, "are too many"),
  })
  .superRefine(({ tasks, mean, device, development }, ctx) => {
    const wrong = (path: string, message: string) => ctx.addIssue({ code: "custom", path: [path], message });
    if (device === "cpu" && !development) wrong("development", "holds for every measurement on a CPU");
    if (
      new Set(tasks.map(({ task, metric, group }) => JSON.stringify([task, metric, group ?? null]))).size <
      tasks.length
    )
      wrong("tasks", "name one row twice");
    const found = meanOf(tasks);
    if (mean?.tasks !== found?.tasks || (mean && found && !close(mean.value, found.value)))
      wrong("mean", "is not the mean of the tasks' accuracy retention");
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
