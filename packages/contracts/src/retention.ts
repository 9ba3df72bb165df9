import { z } from "zod";
import { Verdict } from "./states";
import { INT32_MAX, Int32, text } from "./text";

/** Position buckets after the hand-over point: the first token, 2 to 16, 17 to 64. */
export const Bucket = z.enum(["first", "early", "late"]);
export type Bucket = z.infer<typeof Bucket>;

export const ArmName = z.enum([
  "mapper",
  "identity",
  "self_map",
  "zero_cache",
  "other_sequence",
  "no_rerotation",
  "shuffled_heads",
  "pilot_alone",
  "plain_ridge",
]);
export type ArmName = z.infer<typeof ArmName>;

const Count = z.number().int().min(0).max(INT32_MAX);

export const BucketCount = z.object({ agree: Count, total: Count });

/** Counts at one hand-over point, by the tokens before it. */
export const PointCounts = z.object({
  prefix: z.number().int().min(1).max(INT32_MAX),
  first: BucketCount,
  early: BucketCount,
  late: BucketCount,
});
export type PointCounts = z.infer<typeof PointCounts>;

/** How far beyond the fitted length the long rows go: 4 times by default, 32 times with `--long`. */
export const LongMultiple = z.union([z.literal(4), z.literal(32)]);
export type LongMultiple = z.infer<typeof LongMultiple>;

/** Counts of one probe sequence under one arm; positions of all its hand-over points are pooled. */
export const SequenceCounts = z.object({
  id: text(300),
  domain: text(200),
  /** Of the mapper: sha256 of the sequence's tokens, so that one text under two names is seen. */
  digest: text(64).nullish(),
  split: z.enum(["gate", "report", "long"]),
  prefixes: z.array(Int32).max(10_000),
  first: BucketCount,
  early: BucketCount,
  late: BucketCount,
  /** Sum of KL(native || arm) in nats over the counted positions. */
  kl_sum: z.number().nullish(),
  /** Positions where pilot and target differ that the transfer recovered, and agreeing ones it lost. */
  recovered: Int32.nullish(),
  lost: Int32.nullish(),
  /** Paired gold log-likelihood per sequence, transferred minus pilot, in nats; null without gold. */
  gold_gain: z.number().nullish(),
  /** Target's own gain over the pilot on the same gold tokens. */
  native_gold_gain: z.number().nullish(),
  /** Split "long" only: its prefix as a multiple of the fitted length. */
  multiple: LongMultiple.nullish(),
  /** Of the mapper: the same counts, hand-over point by hand-over point. */
  points: z.array(PointCounts).max(10_000).nullish(),
});
export type SequenceCounts = z.infer<typeof SequenceCounts>;

export const Estimate = z.object({
  value: z.number(),
  low: z.number(),
  high: z.number(),
  n: z.number().int(),
});
export type Estimate = z.infer<typeof Estimate>;

export const ArmScore = z.object({
  retention: z.number(),
  low: z.number(),
  high: z.number(),
  n: z.number().int(),
  buckets: z.object({ first: z.number(), early: z.number(), late: z.number() }),
});
export type ArmScore = z.infer<typeof ArmScore>;

export const Warning = z.enum(["NOT_ABOVE_PILOT", "TARGET_NOT_BETTER", "GATE_OVERFITTED"]);
export type Warning = z.infer<typeof Warning>;

/** Why a run that fitted and scored FAILED all the same. */
export const ScoreFailure = z.enum([
  "PROBES_TOO_SHORT",
  "PROBES_BLIND",
  "IDENTITY_MISSED",
  "SELF_MAP_MISSED",
]);
export type ScoreFailure = z.infer<typeof ScoreFailure>;

/**
 * Why a pair stays below the gate, from the KV cosine: a wrong map may be mended by a refit, a sensitive target may
 * not. `map_wrong_below` and `sensitive_above` compare with the mean of the K and V cosines; between them nothing is said.
 */
export const DiagnosisThresholds = z.object({
  map_wrong_below: z.number().min(-1).max(1),
  sensitive_above: z.number().min(-1).max(1),
});
export type DiagnosisThresholds = z.infer<typeof DiagnosisThresholds>;

export const Diagnosis = z.object({
  code: z.enum(["MAP_WRONG", "TARGET_SENSITIVE"]),
  message: z.string(),
});
export type Diagnosis = z.infer<typeof Diagnosis>;

/** A next step, beside the warning or diagnosis that it follows from. */
export const Advice = z.object({ code: z.string(), message: z.string() });
export type Advice = z.infer<typeof Advice>;

/** Retention beyond the fitted length, a row for each multiple; never part of the gate's number. */
export const LongRow = z.object({
  multiple: LongMultiple,
  /** Why there is no such row. */
  left_out: z.string().nullish(),
  arms: z.object({
    mapper: ArmScore.nullish(),
    identity: ArmScore.nullish(),
    zero_cache: ArmScore.nullish(),
  }),
});
export type LongRow = z.infer<typeof LongRow>;

/** Gate and warnings applied to a calibration's counts; made by packages/pairing, once, for CLI and server. */
export const Assessment = z.object({
  gate: z.number(),
  gate_on: z.enum(["lower", "point"]),
  verdict: Verdict.nullable(),
  failure: z.object({ code: ScoreFailure, message: z.string() }).nullable(),
  retention: z.object({
    value: z.number(),
    low: z.number(),
    high: z.number(),
    n: z.number().int(),
    positions: z.number().int(),
    buckets: z.object({ first: z.number(), early: z.number(), late: z.number() }),
  }),
  report: ArmScore.nullable(),
  prefix_gain: z.number().nullable(),
  arms: z.partialRecord(ArmName, ArmScore),
  by_domain: z.record(z.string(), ArmScore),
  /** Pooled over hand-over points by the length of the prefix: "64-127", "128-255", ... */
  by_prefix: z.record(z.string(), ArmScore).nullish(),
  long: z.array(LongRow).nullish(),
  /** Below the gate only. */
  diagnosis: Diagnosis.nullish(),
  net_rescue: Estimate.nullable(),
  gold_gain: Estimate.nullable(),
  warnings: z.array(Warning),
  /** What to do: after each warning, and below the gate. */
  advice: z.array(Advice).nullish(),
  sentence: z.string(),
});
export type Assessment = z.infer<typeof Assessment>;
