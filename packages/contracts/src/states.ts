import { z } from "zod";

/** The words of docs/glossary.md: statuses are shown as they are named here, with a sentence beside them. */
export const CalibrationState = z.enum(["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "LOST"]);
export type CalibrationState = z.infer<typeof CalibrationState>;

export const PairStatus = z.enum(["ELIGIBLE", "TRANSFER_INELIGIBLE", "NOT_CALIBRATED"]);
export type PairStatus = z.infer<typeof PairStatus>;

export const MapperState = z.enum(["ACTIVE", "INACTIVE", "RETIRED"]);
export type MapperState = z.infer<typeof MapperState>;

export const Verdict = z.enum(["CLEARED", "BELOW_GATE"]);
export type Verdict = z.infer<typeof Verdict>;

export const Role = z.enum(["viewer", "operator", "admin"]);
export type Role = z.infer<typeof Role>;

export const HardwareVerdict = z.enum(["allowed", "refused", "none"]);
export type HardwareVerdict = z.infer<typeof HardwareVerdict>;

export const StreamingMode = z.enum(["buffer", "window", "stream"]);
export type StreamingMode = z.infer<typeof StreamingMode>;

/** Why a request that was meant to use Helm did not: the target prefilled instead. */
export const FallbackReason = z.enum([
  "HELM_OFF",
  "NO_EVIDENCE",
  "NOT_CALIBRATED",
  "TRANSFER_INELIGIBLE",
  "NOT_ABOVE_PILOT",
  "NOT_PLACED",
  "ARTIFACT_UNREADABLE",
  "MAPPER_NOT_RESIDENT",
  "PAIR_MISMATCH",
  "BLOCK_TOO_SMALL",
  "HW_REFUSED",
  "TENANT_OFF",
  "TELEMETRY_STALE",
  "STAGING_GONE",
  "NO_MEMORY",
  "TIMEOUT",
  "TEMPLATE_MISMATCH",
  "DRIFT_LIMIT",
  "ENGINE_ERROR",
]);
export type FallbackReason = z.infer<typeof FallbackReason>;

/**
 * Whether a node takes requests: it leaves the serving path by draining and joins it by a canary, at first and again.
 * Parked it is drained and its engine is stopped.
 */
export const ServingState = z.enum(["JOINING", "SERVING", "DRAINING", "DRAINED", "PARKED"]);
export type ServingState = z.infer<typeof ServingState>;

/** Who decided what: `direct` is the target without the pilot. */
export const Decision = z.enum(["explicit", "kept", "escalated", "direct"]);
export type Decision = z.infer<typeof Decision>;

/** Causes for refusing a pair; all that hold are listed. */
export const PairCause = z.enum([
  "family",
  "tokenizer",
  "kv_heads",
  "head_dim",
  "not_full_attention",
  "mla",
  "no_rope",
  "dynamic_ntk",
]);
export type PairCause = z.infer<typeof PairCause>;
