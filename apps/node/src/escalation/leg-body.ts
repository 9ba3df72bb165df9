import type { StageParams, TransferParams } from "@helm/contracts";
import type { Endpoint, JsonBody } from "../engine/engine-client";

/**
 * Where a model's blocks of a conversation lie: under a salt, and where that is the salt of a mapped line, beside it under
 * the tenant's own, in which lies what the model computed itself.
 */
export interface LineKey {
  salt: string;
  nativeSalt: string | null;
}

/** The caller's own request to a model, going on from a line of ours. */
export function answerBody(caller: JsonBody, model: string, line: LineKey): JsonBody {
  const body = { ...caller, model, cache_salt: line.salt };
  return line.nativeSalt === null ? body : { ...body, kv_transfer_params: beside(line) };
}

/**
 * What the pilot is asked: the evidence that the judge needs comes with it, whether the caller asked for it or not; with
 * `margins` the two likeliest tokens at least.
 */
export function pilotCaller(
  caller: JsonBody,
  endpoint: Endpoint,
  { margins }: { margins: boolean },
): JsonBody {
  const field = endpoint === "/v1/chat/completions" ? "top_logprobs" : "logprobs";
  const asked = typeof caller[field] === "number" ? caller[field] : 0;
  const top = margins ? Math.max(asked, LIKELIEST) : asked;
  if (field === "logprobs") return { ...caller, logprobs: top };
  return { ...caller, logprobs: true, ...(top > 0 ? { top_logprobs: top } : {}) };
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

/** The prompt once more to the model that has read it, a prefix hit, only so that its cache is put aside. */
export function stageBody(caller: JsonBody, model: string, line: LineKey, params: StageParams): JsonBody {
  const body: JsonBody = { ...caller, model, cache_salt: line.salt, stream: false, n: 1, max_tokens: 1 };
  for (const key of notForStaging) delete body[key];
  return { ...body, kv_transfer_params: { ...params, ...beside(line) } };
}

export function transferBody(
  caller: JsonBody,
  model: string,
  line: LineKey,
  params: TransferParams,
): JsonBody {
  return {
    ...caller,
    model,
    cache_salt: line.salt,
    kv_transfer_params: { ...params, ...beside(line) },
  };
}

function beside({ nativeSalt }: LineKey): { native_salt?: string } {
  return nativeSalt === null ? {} : { native_salt: nativeSalt };
}
