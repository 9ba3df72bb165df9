import { z } from "zod";
import { INT32_MAX, text } from "./text";

const Count = z.number().int().min(0).max(INT32_MAX);
const Milliseconds = z.number().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "is no sha256");

/** Rules whose breach ends a climb. INTER_TOKEN_LATENCY ends it on a GPU only; on a CPU it is reported. */
export const LadderRule = z.enum([
  "CORRUPTED",
  "UNTYPED_ERROR",
  "CANARY_FAILED",
  "MEMORY_OVER_BUDGET",
  "INTER_TOKEN_LATENCY",
]);
export type LadderRule = z.infer<typeof LadderRule>;

const Quantiles = z
  .object({ p50: Milliseconds, p95: Milliseconds, p99: Milliseconds })
  .refine(({ p50, p95, p99 }) => p50 <= p95 && p95 <= p99, "are in no order");

/** What so many clients at once got. Every request is exactly one of correct, corrupted, refused and failed. */
export const LadderRung = z
  .object({
    clients: z.number().int().min(1).max(INT32_MAX),
    requests: z.number().int().min(1).max(INT32_MAX),
    /** Complete, and word for word what the model answers to that prompt when it is asked alone. */
    correct: Count,
    /** Complete, and something else. */
    corrupted: Count,
    /** Turned away before the start by an error with a type, a code and, where memory is short, the bytes. */
    refused: Count,
    /** Anything else: no answer, an answer cut off, an error that nobody typed. */
    failed: Count,
    /** From the first request sent to the last answer's end. */
    seconds: z.number().positive(),
    output_tokens: Count,
    /** Of correct answers; null where there is none. */
    first_token_ms: Quantiles.nullable(),
    total_ms: Quantiles.nullable(),
    /** Mean gap between the tokens of an answer. */
    itl_ms: Quantiles.nullable(),
    /** The gateway's resident memory at its highest in this rung; null where its metrics are closed to us. */
    memory_bytes: z.number().int().min(0).nullable(),
    /** The largest gap that a refusal named. */
    shortfall_bytes: z.number().int().min(0).nullable(),
    broke: z.array(z.object({ rule: LadderRule, message: text(300) })).max(20),
  })
  .refine(
    ({ requests, correct, corrupted, refused, failed }) =>
      correct + corrupted + refused + failed === requests,
    "does not account for every request",
  );
export type LadderRung = z.infer<typeof LadderRung>;

/** Written down before the run: at so many clients at least so many correct answers a second. */
export const LadderTarget = z.object({
  clients: z.number().int().min(1).max(INT32_MAX),
  requests_per_second: z.number().positive(),
});
export type LadderTarget = z.infer<typeof LadderTarget>;

/** The last line of `lifeboat helm ladder --json`, and what `ladder.record` stores. */
export const Ladder = z
  .object({
    v: z.literal(1),
    type: z.literal("ladder"),
    at: z.iso.datetime(),
    finished_at: z.iso.datetime(),
    /** Where the requests were sent. */
    gateway: z.url().max(300),
    /** The name that was asked for, and who answered when it was asked alone. */
    model: text(200).min(1),
    served_by: text(200).nullable(),
    engine: text(200).nullable(),
    development: z.boolean(),
    /** Two ladders with the same load asked the same prompts for the same number of tokens. */
    load: z.object({
      prompts: z.number().int().min(1).max(INT32_MAX),
      prompts_sha256: Sha256,
      max_tokens: z.number().int().min(1).max(INT32_MAX),
    }),
    /** One request at a time, before the climb. */
    alone: z.object({
      first_token_ms: Milliseconds,
      itl_ms: Milliseconds.nullable(),
      total_ms: Milliseconds,
    }),
    max_itl_ratio: z.number().min(1),
    max_memory_bytes: z.number().int().min(1).nullable(),
    targets: z.array(LadderTarget).max(50),
    rungs: z.array(LadderRung).min(1).max(64),
    /** Null: every rung that was asked for stood. */
    stopped: z.object({ clients: z.number().int().min(1), rule: LadderRule }).nullable(),
  })
  .superRefine(({ rungs, stopped, at, finished_at }, ctx) => {
    const wrong = (path: string, message: string) => ctx.addIssue({ code: "custom", path: [path], message });
    if (rungs.some((rung, index) => index > 0 && rung.clients <= (rungs[index - 1]?.clients ?? 0)))
      wrong("rungs", "do not climb");
    if (stopped && rungs.at(-1)?.clients !== stopped.clients) wrong("stopped", "is not at the last rung");
    if (Date.parse(finished_at) < Date.parse(at)) wrong("finished_at", "lies before the start");
  });
export type Ladder = z.infer<typeof Ladder>;

/** Correct answers a second; what was corrupted, refused or failed never counts. */
export function correctPerSecond(rung: Pick<LadderRung, "correct" | "seconds">): number {
  return rung.correct / rung.seconds;
}

export interface TargetOutcome {
  target: LadderTarget;
  /** Null: that rung was not reached. */
  reached: number | null;
  met: boolean;
}

/** Each target beside what its rung gave. */
export function targetOutcomes({ targets, rungs }: Pick<Ladder, "targets" | "rungs">): TargetOutcome[] {
  return targets.map((target) => {
    const rung = rungs.find(({ clients }) => clients === target.clients);
    const reached = rung ? correctPerSecond(rung) : null;
    return { target, reached, met: reached !== null && reached >= target.requests_per_second };
  });
}
