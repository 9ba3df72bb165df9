import type { FallbackReason } from "@helm/contracts";

/** Why the pilot's answer went out, or the target was asked; fallback reasons stand beside these. */
export const decisionReasons = [
  "CONFIDENT",
  "STREAM_MODE",
  "TOOL_LOOP",
  "TARGET_BUSY",
  "LOW_MEAN",
  "LOW_MIN",
  "JUDGED_HARD",
  "FORMAT_BROKEN",
  "AGENT",
  "SESSION_HELD",
  "RETURNED",
  "FORCED_SHARE",
  "PILOT_REFUSED",
] as const;
export type DecisionReason = (typeof decisionReasons)[number];

export type Reason = DecisionReason | FallbackReason;
