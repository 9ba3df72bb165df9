import type { FallbackReason, PairReadiness, ServingState } from "@helm/contracts";

const WORDS: Record<FallbackReason, string> = {
  HELM_OFF: "Helm is off",
  NO_EVIDENCE: "the pilot gave no log-probabilities to judge by",
  NOT_CALIBRATED: "no mapper: the pair was not calibrated, or has none that is active",
  TRANSFER_INELIGIBLE: "its last calibration stayed below the gate",
  NOT_ABOVE_PILOT: "the target was not shown to do better than the pilot",
  NOT_PLACED: "the pair is placed on other nodes, so its mapper is not fetched here",
  ARTIFACT_UNREADABLE: "the mapper could not be fetched or read; look at the node's log",
  MAPPER_NOT_RESIDENT: "the mapper is still being loaded",
  PAIR_MISMATCH: "the engine serves other models or other weights than the mapper was made for",
  BLOCK_TOO_SMALL: "prompts are too short for a transfer to pay",
  HW_REFUSED: "this host's hardware is refused",
  TENANT_OFF: "the tenant is excluded",
  STAGING_GONE: "the staged cache was gone before it was used; it is tried again",
  NO_MEMORY: "there was no memory for it; it is tried again",
  TIMEOUT: "it took too long; it is tried again",
  TEMPLATE_MISMATCH: "pilot and target write prompts differently",
  DRIFT_LIMIT: "the conversation changed hands too often",
  ENGINE_ERROR: "the engine failed at it; it is tried again",
};

/** Why a pair stands as it does on a node, in words. */
export function readinessWords({ state, code, min_tokens }: PairReadiness): string {
  switch (state) {
    case "READY":
      return min_tokens === null || min_tokens === undefined
        ? "measured on this node at its canary: a transfer never beats the target's own prefill here"
        : `measured on this node at its canary: a transfer beats the target's own prefill from ${min_tokens.toLocaleString("en")} prompt tokens`;
    case "FETCHING":
      return "its mapper is being fetched and tried; until then escalations prefill";
    case "REFUSED":
      return (code && WORDS[code as FallbackReason]) || "the node gave no reason";
  }
}

export const SERVING_WORDS: Record<ServingState, string> = {
  JOINING: "takes requests once its canary has passed",
  SERVING: "takes requests",
  DRAINING: "takes no new requests; those under way end",
  DRAINED: "takes no requests and has none",
};
