import type { Decision, FallbackReason } from "./states";

/** `x-helm-decision`: who answered, and why that one. */
export const DECISION_WORDS: Record<Decision, string> = {
  explicit: "the request named a model, which answered; Helm did nothing",
  kept: "the pilot answered, and its answer went out",
  escalated: "the target answered, after the pilot's answer was judged hard or because the caller asked",
  direct: "the target answered, and the pilot was not asked",
};

/** `x-helm-reason` of a decision: why the pilot's answer went out, or the target was asked. */
export const DECISION_REASONS = {
  CONFIDENT: "the judge found the pilot's answer good enough",
  STREAM_MODE: "the route streams at once, so nothing is judged",
  TOOL_LOOP: "a tool's result came back: within a loop the model does not change",
  TARGET_BUSY: "the answer was judged hard, and the target had no room within its deadline",
  LOW_MEAN: "the mean log-probability of the answer's tokens is below the route's bound",
  LOW_MIN: "one token's log-probability is below the route's bound",
  JUDGED_HARD: "the judge's table gives a probability at or above its threshold",
  FORMAT_BROKEN: "the answer misses the format that the request asks for",
  AGENT: "the caller asked for the target (POST /v1/helm/escalate)",
  SESSION_HELD: "the conversation was escalated before and stays on the target",
  RETURNED: "the caller asked for the pilot again (POST /v1/helm/return)",
  FORCED_SHARE: "a sure answer, escalated by chance: one of the route's random shares",
  PILOT_REFUSED: "the pilot could not take the request, so the target answered it",
} as const;
export type DecisionReason = keyof typeof DECISION_REASONS;

/** Why the target read the prompt itself, or the pilot was not used at all; beside it stands the same in a node's readiness. */
export const FALLBACK_REASONS: Record<FallbackReason, string> = {
  HELM_OFF: "Helm is off",
  NO_EVIDENCE: "the pilot gave no log-probabilities to judge by",
  NOT_CALIBRATED: "no mapper: the pair was not calibrated, or has none that is active",
  TRANSFER_INELIGIBLE: "its last calibration stayed below the gate",
  NOT_ABOVE_PILOT: "the target was not shown to do better than the pilot",
  NOT_PLACED: "the pair is placed on other nodes, so its mapper is not fetched here",
  ARTIFACT_UNREADABLE: "the mapper could not be fetched or read; look at the node's log",
  MAPPER_NOT_RESIDENT: "the mapper is still being loaded",
  PAIR_MISMATCH: "the engine serves other models or other weights than the mapper was made for",
  BLOCK_TOO_SMALL:
    "prompts are too short for a transfer to pay; the node's page says from which length one does",
  HW_REFUSED: "this host's hardware is refused",
  TENANT_OFF: "the tenant is excluded",
  TELEMETRY_STALE: "the engine has not told its memory for too long",
  STAGING_GONE: "the staged cache was gone before it was used; it is tried again",
  NO_MEMORY: "there was no memory for it; it is tried again",
  TIMEOUT: "it took too long; it is tried again",
  TEMPLATE_MISMATCH: "pilot and target write prompts differently",
  DRIFT_LIMIT: "the conversation changed hands too often",
  ENGINE_ERROR: "the engine failed at it; it is tried again",
};

/** Errors of the gateway, by `error.code` of the body; what an engine refuses keeps the engine's own code. */
export const GATEWAY_ERRORS = {
  invalid_http: [400, "what came in is no HTTP request"],
  invalid_json: [400, "the body is no JSON object"],
  invalid_value: [400, "a field has a value that cannot be taken; `param` names it"],
  model_required: [400, "the request names no model, and the node has no route"],
  engine_refused: [
    400,
    "the engine refused the request; the answer has the engine's own code where it gave one",
  ],
  invalid_api_key: [401, "the key is unknown, expired or revoked"],
  metrics_token_required: [401, "the metrics need the operator's token"],
  model_not_found: [404, "no model and no route has this name"],
  not_found: [404, "there is nothing at this address"],
  body_timeout: [408, "the body did not arrive within the time for it"],
  request_timeout: [408, "the request's head did not arrive within the time for it"],
  model_not_target: [409, "the named model is served here, and no route escalates to it"],
  model_not_pilot: [409, "the named model is served here, and no route comes down to it"],
  body_too_large: [413, "the body is larger than the gateway takes"],
  body_too_complex: [
    413,
    "the body has more objects, properties and items than the gateway reads; send it in several",
  ],
  never_fits: [413, "the request needs more cache than the whole budget; send a shorter one"],
  kv_memory_short: [
    429,
    "too little cache is free now; ask again after `retry-after`, with its ticket in `x-helm-ticket` to keep the place",
  ],
  tenant_quota: [429, "the tenant has as many requests under way as it may"],
  headers_too_large: [431, "the request's head is larger than the gateway takes"],
  internal_error: [500, "a fault of the gateway; give the trace id to whoever runs it"],
  engine_error: [502, "the engine failed"],
  no_capacity: [
    503,
    "no room, or the node takes no requests (it starts, drains, or is parked for a calibration); ask again after `retry-after`",
  ],
  telemetry_stale: [503, "the engine has not told its state for too long"],
  timeout: [504, "the answer took longer than it may"],
} as const satisfies Record<string, readonly [status: number, words: string]>;
