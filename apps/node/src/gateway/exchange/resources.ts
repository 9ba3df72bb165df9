import type { Admitted } from "@helm/admission";
import type { FallbackReason, PairReadiness, SnapshotPair, SnapshotRoute } from "@helm/contracts";
import type { Logger } from "pino";
import type { Tenant } from "../../config/access";
import type { ServingEngine } from "../../engine/serving-engine";
import type { Conversation } from "../../escalation/conversation";
import type { Salts } from "../../escalation/salts";
import type { Sessions } from "../../escalation/sessions";
import type { ServingPath } from "../../serving/serving-path";
import type { TraceBuilder } from "../../trace/trace-builder";
import type { TraceRecorder } from "../../trace/trace-recorder";
import type { ResponseWriter } from "../answers/response-writer";
import type { Generation } from "../bodies/generation";
import type { GatewayMetrics } from "../counters/metrics";
import type { MetricsAccess } from "../counters/metrics-access";
import type { StatsCollector } from "../counters/stats";
import type { PromptCount } from "./prompt-count";

/** A pair as this node can use it now. */
export interface PairView {
  pair: SnapshotPair;
  readiness: PairReadiness;
}

/** A route as this node can serve it now. */
export interface RouteView extends PairView {
  route: SnapshotRoute;
  /** The pair the other way round, a pair of its own; null where the snapshot has none. */
  reverse: PairView | null;
}

/** What the gateway needs of the node's configuration; read anew for every request. */
export interface RoutingView {
  /** In the snapshot's order; the first is the default. */
  routes(): ReadonlyMap<string, RouteView>;
  helmRefusal(): FallbackReason | null;
  /** Null where the key is unknown, expired, or the access list too old to trust. */
  authenticate(authorization: string | undefined): Tenant | null;
  /** False until a first access list has arrived: then no key can be judged at all. */
  readonly configured: boolean;
}

export interface GatewayLimits {
  maxBodyBytes: number;
  /** Of all requests under way together. */
  allBodiesBytes: number;
  headersMs: number;
  bodyMs: number;
  /** How long a request may wait for its turn before it is refused with a number. */
  admissionMs: number;
  /** How long an escalation tries for room on the target before the pilot's answer goes out. */
  reserveMs: number;
  transferMs: number;
  firstTokenMs: number;
  idleMs: number;
  stallMs: number;
  fallbackMaxTokens: number;
}

export const defaultLimits: GatewayLimits = {
  maxBodyBytes: 4 << 20,
  allBodiesBytes: 256 << 20,
  headersMs: 20_000,
  bodyMs: 30_000,
  admissionMs: 120_000,
  reserveMs: 250,
  transferMs: 5_000,
  firstTokenMs: 120_000,
  idleMs: 60_000,
  stallMs: 30_000,
  fallbackMaxTokens: 512,
};

/** Chance, and the few places for what it draws. */
export interface SharePlaces {
  /** Whether a request is drawn. */
  draw(probability: number): boolean;
  /** A place for one share, given back by `leave`; null where too many run. */
  enter(): AbortController | null;
  leave(end: AbortController): void;
  /** Ends what runs; the node stops. */
  close(): void;
}

/** Everything the gateway works with, beside the request itself. */
export interface GatewayResources {
  /** Null while no engine is on the serving path. */
  engine(): ServingEngine | null;
  routing: RoutingView;
  /** Whether new requests are taken, and how many are under way. */
  serving: ServingPath;
  salts: Salts;
  sessions: Sessions;
  metrics: GatewayMetrics;
  metricsAccess: MetricsAccess;
  stats: StatsCollector;
  traces: TraceRecorder;
  shares: SharePlaces;
  limits: GatewayLimits;
  development: boolean;
  log: Logger;
}

/** One request on its way. */
export interface Exchange {
  traceId: string;
  startedAt: number;
  tenant: Tenant;
  session: string | null;
  /** Of an earlier refusal: its place in the queue. */
  ticket: string | null;
  generation: Generation;
  writer: ResponseWriter;
  /** Aborted when the client went away or the node stops. */
  signal: AbortSignal;
  engine: ServingEngine;
  /** Given back on every way out. */
  holds: Set<Admitted>;
  /** Prompts counted so far, by model. */
  counts: Map<string, Promise<PromptCount>>;
  /** Null until the request is known to be routed. */
  conversation: Conversation | null;
  trace: TraceBuilder;
  log: Logger;
}
