import { z } from "zod";
import { ServedJudge } from "./judge";
import { MachineId } from "./machine-id";
import { FallbackReason, ServingState, StreamingMode } from "./states";

/** One pair as a node needs it: which engines, which mapper, and why not when it may not be used. */
export const SnapshotPair = z.object({
  id: z.string(),
  pilot: z.string(),
  target: z.string(),
  mapper_sha256: z.string().nullable(),
  mapper_bytes: z.number().int().nullable(),
  /** null: usable. Otherwise every escalation of this pair prefills natively with this reason. */
  refusal: FallbackReason.nullable(),
  /** Made on a CPU: development nodes only. */
  development: z.boolean(),
  pilot_weights_sha256: z.string().nullable(),
  target_weights_sha256: z.string().nullable(),
  /** Ids of the nodes that may use it; null or absent: every node. Others refuse it as NOT_PLACED and fetch nothing. */
  nodes: z.array(z.string()).nullish(),
});
export type SnapshotPair = z.infer<typeof SnapshotPair>;

const Chance = z.number().min(0).max(1);

/**
 * With which probability a request is also answered another way: a kept one by the target, an escalated one by the
 * target's own prefill; and a sure one is escalated all the same.
 */
export const RouteShares = z.object({
  kept_also_target: Chance,
  escalated_also_native: Chance,
  forced_escalation: Chance,
});
export type RouteShares = z.infer<typeof RouteShares>;

/** Where a document says nothing of them, as those of older control planes. */
export const DEFAULT_MAX_SWITCHES = 4;
export const NO_SHARES: RouteShares = { kept_also_target: 0, escalated_also_native: 0, forced_escalation: 0 };

export const SnapshotRoute = z.object({
  name: z.string(),
  pair_id: z.string(),
  /**
   * Escalate where mean or minimum token log-probability falls below its bound; with a table, where the probability that it
   * gives reaches its threshold, for answers that are held back as the table says.
   */
  judge: z.object({
    version: z.string(),
    mean_logprob: z.number(),
    min_logprob: z.number(),
    table: ServedJudge.optional(),
  }),
  streaming: StreamingMode,
  window: z.number().int(),
  default_max_tokens: z.number().int(),
  hold_turns: z.number().int().nullable(),
  /** How often a conversation's cache is carried across, up or down; beyond it the answering model prefills. */
  max_switches: z.number().int().min(0).nullish(),
  shares: RouteShares.nullish(),
});
export type SnapshotRoute = z.infer<typeof SnapshotRoute>;

export const RoutingSnapshot = z.object({
  kind: z.literal("routing_snapshot"),
  schema: z.literal(1),
  generation: z.number().int().min(1),
  created_at: z.string(),
  helm_enabled: z.boolean(),
  routes: z.array(SnapshotRoute),
  pairs: z.array(SnapshotPair),
});
export type RoutingSnapshot = z.infer<typeof RoutingSnapshot>;

export const AccessList = z.object({
  kind: z.literal("access_list"),
  schema: z.literal(1),
  version: z.number().int().min(1),
  issued_at: z.string(),
  /** Takes effect within a second on every connected node: Helm off, everything prefills natively. */
  kill_switch: z.boolean(),
  helm_off_after_s: z.number().int(),
  refuse_keys_after_s: z.number().int(),
  /** Of ordinary requests, the share whose traces are sent; null or absent: DEFAULT_TRACE_RATE. */
  trace_rate: z.number().min(0).max(1).nullish(),
  keys: z.array(
    z.object({
      /** sha256 of the whole key, hex. */
      hash: z.string(),
      prefix: z.string(),
      tenant_id: z.string(),
      expires_at: z.string().nullable(),
    }),
  ),
  tenants: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      enabled: z.boolean(),
      /** Overrides: what is null or absent leaves the route's own value. */
      streaming: StreamingMode.nullish(),
      window: z.number().int().nullish(),
      mean_logprob: z.number().nullish(),
      min_logprob: z.number().nullish(),
      transfer_off: z.boolean().nullish(),
      /** Requests at a time on one node; beyond it 429 tenant_quota. */
      max_concurrent: z.number().int().nullish(),
      /** Until then traces hold prompt and answer; null or absent: never. */
      trace_text_until: z.iso.datetime().nullish(),
    }),
  ),
});
export type AccessList = z.infer<typeof AccessList>;

/**
 * What one node is to do with itself, signed like the other documents and kept on its disk: who drains a node wants it
 * drained after its restart too. The revision only grows; `canary` counts how often a canary was asked for.
 */
export const NodeOrders = z.object({
  kind: z.literal("node_orders"),
  schema: z.literal(1),
  node_id: z.string(),
  revision: z.number().int().min(1),
  drain: z.boolean(),
  /** Drain, then stop the engine so that its memory is free; without it the engine starts and the node joins by its canary. */
  park: z.boolean().nullish(),
  canary: z.number().int().min(0),
});
export type NodeOrders = z.infer<typeof NodeOrders>;

/** `document` is the exact JSON text that was signed; sha256 and Ed25519 signature (base64) are over its UTF-8 bytes. */
export const SignedDocument = z.object({ document: z.string(), sha256: z.string(), signature: z.string() });
export type SignedDocument = z.infer<typeof SignedDocument>;

/**
 * Socket.IO /nodes: server emits "snapshot", "access-list" and "orders" (SignedDocument) with ack NodeAck; node emits
 * "readiness", "stats" and "traces".
 */
export const NodeAck = z.object({
  ok: z.boolean(),
  generation: z.number().int(),
  sha256: z.string(),
  /** For a nack: why the document is invalid and which generation is kept. */
  reason: z.string().nullish(),
  kept_generation: z.number().int().nullish(),
});
export type NodeAck = z.infer<typeof NodeAck>;

export const PairReadiness = z.object({
  pair_id: z.string(),
  state: z.enum(["READY", "FETCHING", "REFUSED"]),
  code: z.string().nullish(),
  /** Prompt tokens from which a transfer beats the target's prefill here; null: it never pays. */
  min_tokens: z.number().int().nullish(),
  canary_at: z.string().nullish(),
});
export type PairReadiness = z.infer<typeof PairReadiness>;

/** Bytes as the engine measured them; a part that an engine does not measure is absent. */
export const EngineMemoryReport = z.object({
  measured_at: z.string(),
  models: z.array(
    z.object({
      id: z.string(),
      weights_bytes: z.number().nullish(),
      /** Cache held by requests, cache kept for its prefix, and what both may come to. */
      kv_used_bytes: z.number().nullish(),
      kv_cached_bytes: z.number().nullish(),
      kv_budget_bytes: z.number().nullish(),
      /** What admission has promised to requests that run or are about to. */
      kv_promised_bytes: z.number().nullish(),
      /** Of the cache what lies in memory: its pages come as they are written. */
      kv_touched_bytes: z.number().nullish(),
      /** What the process grew by while the model was loaded, its weights among it. */
      load_bytes: z.number().nullish(),
    }),
  ),
  staging: z.object({ used_bytes: z.number(), budget_bytes: z.number() }).nullish(),
  mappers: z.object({ used_bytes: z.number(), budget_bytes: z.number() }).nullish(),
  /** Mappers that the device has no room for and that come back without their file being read. */
  mappers_host: z.object({ used_bytes: z.number(), budget_bytes: z.number() }).nullish(),
  /** Of the process before any model was loaded, and of that the pages of libraries' files; buffers of the steps. */
  runtime_bytes: z.number().nullish(),
  runtime_file_bytes: z.number().nullish(),
  scratch_bytes: z.number().nullish(),
  /** Of the device's memory: free as the system measures it, kept out of all budgets, promised and not touched yet. */
  free_bytes: z.number().nullish(),
  reserve_bytes: z.number().nullish(),
  untouched_bytes: z.number().nullish(),
  /** Of the engine's process in main memory, and of the GPU's memory what it allocated. */
  process_bytes: z.number().nullish(),
  device_bytes: z.number().nullish(),
});
export type EngineMemoryReport = z.infer<typeof EngineMemoryReport>;

/** Where a node stands between its orders and its requests. */
export const ServingReport = z.object({
  state: ServingState,
  since: z.string(),
  /** Requests under way. */
  running: z.number().int(),
  /** Of the orders in force; 0 before any came. */
  orders_revision: z.number().int(),
  canary: z
    .object({ number: z.number().int(), at: z.string(), ok: z.boolean(), reason: z.string().nullish() })
    .nullish(),
});
export type ServingReport = z.infer<typeof ServingReport>;

export const NodeReadiness = z.object({
  active_generation: z.number().int(),
  acked_generation: z.number().int(),
  access_version: z.number().int(),
  engine: z.object({
    name: z.string(),
    healthy: z.boolean(),
    /** Why no engine serves, in a sentence: what it waits for, or how the last one ended. */
    why_not: z.string().max(2000).nullish(),
    development: z.boolean(),
    models: z.array(
      z.object({
        id: z.string(),
        weights_sha256: z.string().nullish(),
        max_model_len: z.number().int().nullish(),
      }),
    ),
  }),
  pairs: z.array(PairReadiness),
  serving: ServingReport.nullish(),
  memory: EngineMemoryReport.nullish(),
  machine: MachineId.nullish(),
  /** What the node had to pass over when it started, in words: a stored document that was damaged, and what it took instead. */
  remarks: z.array(z.string()).nullish(),
});
export type NodeReadiness = z.infer<typeof NodeReadiness>;

/** Of one report. */
export const MOST_STATS_ROWS = 5_000;
const statsName = z.string().max(200);
/** Far above what a node can do between two reports, and far below what overflows a sum. */
const statsCount = z.number().int().min(0).max(1e12);

/** `from_tokens` is a power of two: prompts of that many tokens up to twice as many. Sum and squares give the spread. */
export const StatsLength = z.object({
  pair_id: statsName,
  transfer: z.enum(["transferred", "fallback", "none"]),
  from_tokens: z
    .number()
    .int()
    .min(1)
    .max(1 << 30),
  requests: statsCount,
  first_token_ms_sum: z.number().min(0).max(1e15),
  first_token_ms_squares: z.number().min(0).max(1e24),
});
export type StatsLength = z.infer<typeof StatsLength>;

/** Counters since the last report, by tenant and pair; summed in Postgres. Emitted as "stats" every few seconds. */
export const NodeStats = z.object({
  /** By which a repeated report is known, whatever the node's clock says; null of older nodes. */
  id: z.uuid().nullish(),
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  rows: z
    .array(
      z.object({
        tenant_id: statsName,
        pair_id: statsName.nullable(),
        decision: statsName,
        reason: statsName.nullable(),
        transfer: statsName.nullable(),
        requests: statsCount,
        tokens_moved: statsCount,
        first_token_ms_sum: z.number().min(0).max(1e15),
        /** Of refusals with a number. */
        shortfall_bytes_sum: z.number().min(0).max(1e18).nullish(),
      }),
    )
    .max(MOST_STATS_ROWS),
  /** Escalated answers by the length of their prompt: what a transfer saves of the time to the first token. */
  lengths: z.array(StatsLength).max(MOST_STATS_ROWS).nullish(),
  /** Traces that found no room while they waited to be sent. */
  traces_dropped: statsCount.nullish(),
  /** Keys that were presented and accepted, by prefix, with the newest time. */
  keys: z.array(z.object({ prefix: z.string().max(80), last_used_at: z.iso.datetime() })).nullish(),
});
export type NodeStats = z.infer<typeof NodeStats>;

/** To "readiness", "stats" and "traces". Not `ok`: send it again later, unless `refused`: it will never be taken as it is. */
export const ReportAnswer = z.object({ ok: z.boolean(), refused: z.boolean().nullish() });
export type ReportAnswer = z.infer<typeof ReportAnswer>;
