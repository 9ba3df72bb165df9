import { HelmRequestOptions } from "@helm/contracts";
import type { Endpoint, JsonBody } from "../../engine/engine-client";
import { badRequest } from "../errors/gateway-error";

/** A request for an answer, checked as far as the gateway needs to understand it; the engine checks the rest. */
export interface Generation {
  endpoint: Endpoint;
  /** What the caller named; null where the field is absent. */
  model: string | null;
  stream: boolean;
  includeUsage: boolean;
  wantsLogprobs: boolean;
  /** How many of the likeliest tokens the caller asked for. */
  topLogprobs: number;
  /** An answer that is no JSON breaks what was asked for. */
  wantsJson: boolean;
  wantsTokenIds: boolean;
  n: number;
  maxTokens: number | null;
  wish: "auto" | "force" | "off";
  /** The last message answers a tool call: within such a loop the served model does not flip. */
  toolLoop: boolean;
  /** The caller's body without what is the gateway's own business. */
  body: JsonBody;
  /** Of the body as it came; null where nobody counted them. */
  bytes: number | null;
}

/**
 * Fields the gateway sets and never lets a caller set; a `priority` would overtake other tenants in the engine,
 * a `request_id` could meet another's, and `vllm_xargs` reaches whatever an engine's plug-ins listen to.
 */
const ours = ["kv_transfer_params", "cache_salt", "vllm_xargs", "priority", "request_id"];

const JSON_FORMATS = new Set<unknown>(["json_object", "json_schema"]);

export function readGeneration(
  endpoint: Endpoint,
  given: JsonBody,
  development: boolean,
  bytes: number | null = null,
): Generation {
  for (const field of ours) {
    if (given[field] !== undefined)
      throw badRequest(field, `${field} is set by the gateway and by nobody else.`);
  }
  const { helm, ...body } = given;
  const stream = flag(body, "stream");
  const options = body.stream_options;
  if (options !== undefined && options !== null && typeof options !== "object") {
    throw badRequest("stream_options", "stream_options must be an object.");
  }
  return {
    endpoint,
    model: readModel(body.model),
    stream,
    includeUsage: stream && (options as JsonBody | null | undefined)?.include_usage === true,
    wantsLogprobs:
      endpoint === "/v1/chat/completions" ? body.logprobs === true : typeof body.logprobs === "number",
    topLogprobs: count(endpoint === "/v1/chat/completions" ? body.top_logprobs : body.logprobs),
    wantsJson: JSON_FORMATS.has((body.response_format as JsonBody | null | undefined)?.type),
    wantsTokenIds: body.return_token_ids === true,
    n: whole(body, "n", 128) ?? 1,
    maxTokens: readMaxTokens(endpoint, body),
    wish: readWish(helm, development),
    toolLoop: lastRole(body.messages) === "tool",
    body,
    bytes,
  };
}

/** The bound the engine will go by, or admission would count another answer than the one that is written. */
function readMaxTokens(endpoint: Endpoint, body: JsonBody): number | null {
  const given = whole(body, "max_tokens");
  if (endpoint === "/v1/completions") return given;
  return whole(body, "max_completion_tokens") ?? given;
}

function readModel(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string" || value.length === 0) throw badRequest("model", "model must be a name.");
  return value;
}

function readWish(value: unknown, development: boolean): Generation["wish"] {
  if (value === undefined || value === null) return "auto";
  const parsed = HelmRequestOptions.strict().safeParse(value);
  if (!parsed.success) {
    throw badRequest("helm", 'helm takes {"transfer": "auto" | "off"}, and "force" in development mode.');
  }
  const wish = parsed.data.transfer ?? "auto";
  if (wish === "force" && !development) {
    throw badRequest("helm.transfer", '"force" exists in development mode only.');
  }
  return wish;
}

function flag(body: JsonBody, key: string): boolean {
  const value = body[key];
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") throw badRequest(key, `${key} must be true or false.`);
  return value;
}

function whole(body: JsonBody, key: string, most = 1_000_000_000): number | null {
  const value = body[key];
  if (value === undefined || value === null) return null;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > most) {
    throw badRequest(key, `${key} must be a whole number from 1 to ${most}.`);
  }
  return value;
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function lastRole(messages: unknown): unknown {
  return Array.isArray(messages) ? (messages.at(-1) as { role?: unknown } | null)?.role : undefined;
}
