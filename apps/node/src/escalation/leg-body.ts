import type { StageParams, TransferParams } from "@helm/contracts";
import type { Endpoint, JsonBody } from "../engine/engine-client";

/** The caller's own request to a model, under a salt of ours. */
export function answerBody(caller: JsonBody, model: string, salt: string): JsonBody {
  return { ...caller, model, cache_salt: salt };
}

/**
 * The pilot's leg brings the evidence that the judge needs, whether the caller asked for it or not; with `margins` the
 * two likeliest tokens at least.
 */
export function pilotBody(
  caller: JsonBody,
  endpoint: Endpoint,
  model: string,
  salt: string,
  { margins }: { margins: boolean },
): JsonBody {
  const body = answerBody(caller, model, salt);
  const field = endpoint === "/v1/chat/completions" ? "top_logprobs" : "logprobs";
  const asked = typeof caller[field] === "number" ? caller[field] : 0;
  const top = margins ? Math.max(asked, LIKELIEST) : asked;
  if (field === "logprobs") return { ...body, logprobs: top };
  return { ...body, logprobs: true, ...(top > 0 ? { top_logprobs: top } : {}) };
}

const LIKELIEST = 2;

const notForStaging = [
  "stream_options",
  "max_completion_tokens",
  "min_tokens",
  "logprobs",
  "top_logprobs",
  "best_of",
  "stop",
  "return_token_ids",
];

/** The prompt once more to the pilot, a prefix hit, only so that its cache is put aside. */
export function stageBody(caller: JsonBody, model: string, salt: string, params: StageParams): JsonBody {
  const body: JsonBody = { ...answerBody(caller, model, salt), stream: false, n: 1, max_tokens: 1 };
  for (const key of notForStaging) delete body[key];
  return { ...body, kv_transfer_params: params };
}

export function transferBody(
  caller: JsonBody,
  model: string,
  salt: string,
  params: TransferParams,
): JsonBody {
  return { ...answerBody(caller, model, salt), kv_transfer_params: params };
}
