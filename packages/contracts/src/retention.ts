import { z } from "zod";
import { Verdict } from "./states";

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

export const BucketCount = z.object({ agree: z.number().int().min(0), total: z.number().int().min(0) });

/** Counts of one probe sequence under one arm; positions of all its hand-over points are pooled. */
export const SequenceCounts = z.object({
  id: z.string(),
  domain: z.string(),
  split: z.enum(["gate", "report", "long"]),
  prefixes: z.array(z.number().int()),
  first: BucketCount,
  early: BucketCount,
  late: BucketCount,
  /** Sum of KL(native || arm) in nats over the counted positions. */
  kl_sum: z.number().nullish(),
  /** Positions where pilot and target differ that the transfer recovered, and agreeing ones it lost. */
  recovered: z.number().int().nullish(),
  lost: z.number().int().nullish(),
  /** Paired gold log-likelihood per sequence, transferred minus pilot, in nats; null without gold. */
  gold_gain: z.number().nullish(),
  /** Target's own gain over the pilot on the same gold tokens. */
  native_gold_gain: z.number().nullish(),
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
  net_rescue: Estimate.nullable(),
  gold_gain: Estimate.nullable(),
  warnings: z.array(Warning),
  sentence: z.string(),
});
export type Assessment = z.infer<typeof Assessment>;
