import {
  FALLBACK_REASONS,
  type FallbackReason,
  type PairReadiness,
  type ServingState,
} from "@helm/contracts";

/** Why a pair stands as it does on a node, in words. */
export function readinessWords({ state, code, min_tokens }: PairReadiness, engineServes = true): string {
  switch (state) {
    case "READY":
      return min_tokens === null || min_tokens === undefined
        ? "measured on this node at its canary: a transfer never beats the target's own prefill here"
        : `measured on this node at its canary: a transfer beats the target's own prefill from ${min_tokens.toLocaleString("en")} prompt tokens`;
    case "FETCHING":
      return engineServes
        ? "its mapper is being fetched and tried; until then escalations prefill"
        : "its mapper is tried as soon as the node's engine serves";
    case "REFUSED":
      return (code && FALLBACK_REASONS[code as FallbackReason]) || "the node gave no reason";
  }
}

export const SERVING_WORDS: Record<ServingState, string> = {
  JOINING: "takes requests once its canary has passed",
  SERVING: "takes requests",
  DRAINING: "takes no new requests; those under way end",
  DRAINED: "takes no requests and has none",
  PARKED: "takes no requests, and its engine is stopped so that a calibration has its memory",
};
