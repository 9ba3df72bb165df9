import type { DecisionReason, FallbackReason } from "@helm/contracts";

export type { DecisionReason };

/** Why the pilot's answer went out, or the target was asked; fallback reasons stand beside these. */
export type Reason = DecisionReason | FallbackReason;
