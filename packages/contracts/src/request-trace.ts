import { z } from "zod";
import { Decision, StreamingMode } from "./states";

/** Names and codes come from elsewhere: long enough for any of them, and bounded. */
const name = z.string().max(200);
/** Milliseconds, far above any deadline. */
const ms = z.number().min(0).max(1e9);
const count = z.number().int().min(0).max(1e12);

/** Of one text in a trace, in UTF-16 units; what is longer is cut and says so. */
export const MOST_TRACE_TEXT = 16_384;
/** Of one message, so that a batch stays far below what a socket takes. */
export const MOST_TRACES = 200;
export const MOST_TRACE_BATCH_BYTES = 512 * 1024;

/** A node sends its traces every second; one that is not there after this is not on its way. */
export const TRACE_WAIT_MS = 20_000;

/** Of ordinary requests, where the settings name no other share. */
export const DEFAULT_TRACE_RATE = 0.05;

/** What a request is refused with before it starts: not the caller's mistake, and counted as traffic that was turned away. */
export const RefusalCode = z.enum([
  "kv_memory_short",
  "never_fits",
  "tenant_quota",
  "no_capacity",
  "telemetry_stale",
]);
export type RefusalCode = z.infer<typeof RefusalCode>;

/** The code of an engine's refusal that brings none of its own. */
export const ENGINE_REFUSED = "engine_refused";

/** How a request without an answer is counted: turned away, an error of ours, or the caller's own mistake or leaving. */
export const ERROR_DECISIONS = ["refused", "failed", "client_error"] as const;
export type ErrorDecision = (typeof ERROR_DECISIONS)[number];

/** What a request is counted and filed under. */
export const REQUEST_DECISIONS = [...Decision.options, ...ERROR_DECISIONS] as const;

export function decisionOfError(status: number, code: string): ErrorDecision {
  if (RefusalCode.safeParse(code).success) return "refused";
  return status >= 500 ? "failed" : "client_error";
}

/** `x-helm-trace-id`: 128 random bits, by which a trace is known wherever it comes from and however often. */
export const TraceId = z.string().regex(/^[0-9a-f]{32}$/, "must be 32 hexadecimal digits");

/**
 * One engine call of a request. `stage` is the prompt once more to the pilot, so that its cache is handed over; `share` is
 * the call of a random share, after the answer had left. Times are counted from the request's arrival.
 */
export const TraceLeg = z.object({
  role: z.enum(["pilot", "stage", "target", "named", "share"]),
  model: name,
  started_ms: ms,
  first_token_ms: ms.nullable(),
  ended_ms: ms.nullable(),
  prompt_tokens: count.nullable(),
  completion_tokens: count.nullable(),
  /** What the engine says of its own queue and prefill, where it does. */
  engine_queue_ms: ms.nullable(),
  engine_prefill_ms: ms.nullable(),
  /** Whether what it said went out to the caller. */
  answered: z.boolean(),
  /** Why it ended early: a fault's kind, or "not_needed" where it was cancelled. */
  ended_by: name.nullable(),
});
export type TraceLeg = z.infer<typeof TraceLeg>;

/** The judge's word on the pilot's answer. */
export const TraceJudge = z.object({
  version: name,
  /** What `score` is: a mean log-probability in nats, or the probability of the named label. */
  measure: z.enum(["mean_logprob", "probability"]),
  score: z.number(),
  threshold: z.number(),
  escalate: z.boolean(),
  /** What a probability is of: "target would answer differently", or with a verifier "target's answer is better". */
  label: name.nullable(),
  /** Digest of the table that gave a probability. */
  table: name.nullish(),
  /** By the features' names. */
  evidence: z.record(z.string().max(80), z.number()),
});
export type TraceJudge = z.infer<typeof TraceJudge>;

/** Why a request was also answered another way: by chance, so that what the judge does can be measured. */
export const ShareKind = z.enum(["kept_also_target", "escalated_also_native", "forced_escalation"]);
export type ShareKind = z.infer<typeof ShareKind>;

/** What a random share brought; absent where it could not be had. */
export const TraceShare = z.object({
  kind: ShareKind,
  /** The probability with which this request was drawn, as it stood then. */
  propensity: z.number().gt(0).max(1),
  /** Live agreement of greedy copies: positions that agree up to and including the first difference. */
  positions: z.object({ agreed: count, compared: count }).nullish(),
  first_token_agrees: z.boolean().nullish(),
  /** The target's mean log-likelihood of each answer, in nats a token: quality where nothing verifies an answer. */
  pilot_mean_loglik: z.number().nullish(),
  target_mean_loglik: z.number().nullish(),
  /** Of a verifier, where there is one. */
  label: z.enum(["rescued", "wasted", "futile"]).nullish(),
  /** First token of the other way: the target's own prefill, beside the transfer's. */
  first_token_ms: ms.nullish(),
});
export type TraceShare = z.infer<typeof TraceShare>;

/** Only of a tenant that opted in, and only until the time it did so for. */
export const TraceText = z.object({
  prompt: z.string().max(MOST_TRACE_TEXT),
  answer: z.string().max(MOST_TRACE_TEXT).nullable(),
  cut: z.boolean(),
});
export type TraceText = z.infer<typeof TraceText>;

/** Why a trace was sent at all: everything out of the ordinary is, of the rest a share. */
export const TraceKept = z.enum(["fallback", "refusal", "error", "share", "rate", "asked"]);
export type TraceKept = z.infer<typeof TraceKept>;

/** One request, from its arrival to its last byte. Emitted over /nodes as "traces" {traces} with ack ReportAnswer. */
export const RequestTrace = z.object({
  id: TraceId,
  at: z.iso.datetime(),
  tenant_id: name,
  /** Null: a model was named, or nothing was decided yet. */
  route: name.nullable(),
  pair_id: name.nullable(),
  /** Of the routing snapshot in force; 0 before any. */
  generation: z.number().int().min(0).max(2_147_483_647),
  endpoint: z.enum(["/v1/chat/completions", "/v1/completions", "/v1/helm/escalate", "/v1/helm/return"]),
  development: z.boolean(),
  /** Null: refused before anything was decided. */
  decision: Decision.nullable(),
  reason: name.nullable(),
  served_by: name.nullable(),
  transfer: z.enum(["transferred", "fallback", "none"]).nullable(),
  /** As answered; a stream that broke keeps its 200 and has an error code. 499: the caller went away. */
  status: z.number().int().min(100).max(599),
  error_code: name.nullable(),
  /** Of a refusal with a number. */
  shortfall: z
    .object({
      needed_bytes: count,
      available_bytes: count,
      shortfall_bytes: count,
      never_fits: z.boolean(),
    })
    .nullable(),
  /** The route's way of holding back; null where nothing was judged. */
  mode: StreamingMode.nullable(),
  /** Whether the caller asked for a stream. */
  streamed: z.boolean(),
  /** Whether it named a session. */
  session: z.boolean(),
  tokens: z.object({
    prompt: count.nullable(),
    /** Carried across, and computed by the target after them. */
    moved: count.nullable(),
    tail: count.nullable(),
  }),
  /** Waiting for room before the first leg, the legs, and the transfer's own steps. */
  queue_ms: ms.nullable(),
  legs: z.array(TraceLeg).max(12),
  /** `total`: from staging to the target's first token. */
  steps: z
    .object({
      stage_ms: ms.nullable(),
      map_ms: ms.nullable(),
      install_ms: ms.nullable(),
      tail_ms: ms.nullable(),
      total_ms: ms.nullable(),
    })
    .nullable(),
  judge: TraceJudge.nullable(),
  /** From asking the answering model (staging included) to its first token, as in the counters. */
  first_token_ms: ms.nullable(),
  total_ms: ms,
  share: TraceShare.nullable(),
  text: TraceText.nullable(),
  kept: TraceKept,
  /** The probability with which a trace like this one is sent. */
  propensity: z.number().gt(0).max(1),
});
export type RequestTrace = z.infer<typeof RequestTrace>;

/** One message of a node; a trace that came before is known by its id and stored once. */
export const TraceBatch = z.object({ traces: z.array(RequestTrace).min(1).max(MOST_TRACES) });
export type TraceBatch = z.infer<typeof TraceBatch>;

/** Under this name the console's own requests are counted; no tenant's id, which are UUIDs. */
export const PLAYGROUND_TENANT = "playground";
