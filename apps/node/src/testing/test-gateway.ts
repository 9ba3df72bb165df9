import { createHash } from "node:crypto";
import type { FallbackReason, PairReadiness, SnapshotPair, SnapshotRoute } from "@helm/contracts";
import pino from "pino";
import { AccessIndex, bearerOf, type Tenant } from "../config/access";
import { EngineClient } from "../engine/engine-client";
import { describeEngine } from "../engine/serving-engine";
import { Salts } from "../escalation/salts";
import { Sessions } from "../escalation/sessions";
import { GatewayMetrics } from "../gateway/counters/metrics";
import { StatsCollector } from "../gateway/counters/stats";
import {
  defaultLimits,
  type GatewayLimits,
  type GatewayResources,
  type PairView,
  type RouteView,
} from "../gateway/exchange/resources";
import { GatewayServer } from "../gateway/gateway-server";
import { Shares } from "../gateway/shares/shares";
import { ServingPath } from "../serving/serving-path";
import { type RecorderParts, TraceRecorder } from "../trace/trace-recorder";

export const testKey = "hlm_abcdefgh_0123456789012345678901234567890123456789";
export const otherKey = "hlm_zyxwvuts_0123456789012345678901234567890123456789";
const tenants: Tenant[] = [
  { id: "t1", name: "demo", enabled: true },
  { id: "t2", name: "other", enabled: true },
];

/** What a test may turn while the gateway runs. */
export interface Dials {
  helmRefusal: FallbackReason | null;
  pair: SnapshotPair;
  route: SnapshotRoute;
  readiness: PairReadiness;
  /** The pair the other way round; null: there is none. */
  reverse: PairView | null;
  tenant: Tenant;
  engineGone: boolean;
}

export interface TestGateway {
  origin: string;
  dials: Dials;
  resources: GatewayResources;
  serving: ServingPath;
  /** Bytes of request bodies that the gateway holds. */
  bodyBytes(): number;
  stop(): Promise<void>;
}

/** A real gateway with a configuration in memory, in front of any engine that speaks the door's HTTP. */
export async function startTestGateway(
  address: { origin: string } | { socketPath: string },
  options: {
    limits?: Partial<GatewayLimits>;
    development?: boolean;
    maxWaiting?: number;
    watch?: RecorderParts["watch"];
  } = {},
): Promise<TestGateway> {
  const client = new EngineClient(address);
  const engine = await describeEngine(client, options.maxWaiting ?? 16);
  const dials = defaultDials();
  const access = new AccessIndex({
    kind: "access_list",
    schema: 1,
    version: 1,
    issued_at: new Date().toISOString(),
    kill_switch: false,
    helm_off_after_s: 1,
    refuse_keys_after_s: 1,
    keys: [keyRow(testKey, "t1"), keyRow(otherKey, "t2")],
    tenants,
  });
  const serving = new ServingPath(
    { canary: () => Promise.resolve(), onCanary: () => {} },
    pino({ level: "silent" }),
    () => {},
  );
  serving.engineChanged(engine);
  const resources: GatewayResources = {
    engine: () => (dials.engineGone ? null : engine),
    serving,
    routing: {
      configured: true,
      routes: () => {
        const { route, pair, readiness, reverse } = dials;
        const view: RouteView = { route, pair, readiness, reverse };
        return new Map([[dials.route.name, view]]);
      },
      helmRefusal: () => dials.helmRefusal,
      authenticate: (authorization) => {
        const key = bearerOf(authorization);
        const tenant = key === null ? null : access.tenantOf(key, new Date());
        return tenant?.id === "t1" ? dials.tenant : tenant;
      },
    },
    salts: new Salts(),
    sessions: new Sessions(),
    metrics: new GatewayMetrics(),
    metricsAccess: { token: null, local: true },
    stats: new StatsCollector(),
    traces: new TraceRecorder({
      rate: () => 1,
      generation: () => 1,
      development: options.development ?? true,
      ...(options.watch ? { watch: options.watch } : {}),
    }),
    shares: new Shares(),
    limits: { ...defaultLimits, ...options.limits },
    development: options.development ?? true,
    log: pino({ level: "silent" }),
  };
  const server = new GatewayServer(resources);
  const port = await server.listen(0, "127.0.0.1");
  return {
    origin: `http://127.0.0.1:${port}`,
    dials,
    resources,
    serving,
    bodyBytes: () => server.bodyBytes,
    stop: async () => {
      await server.close(100);
      await client.close();
    },
  };
}

/** The pair of the default dials the other way round, ready to be used. */
export function reversePair(mapper = "b".repeat(64)): PairView {
  const { pair } = defaultDials();
  const back = { ...pair, id: "pair-2", pilot: pair.target, target: pair.pilot, mapper_sha256: mapper };
  return { pair: back, readiness: { pair_id: back.id, state: "READY", min_tokens: 1 } };
}

function keyRow(key: string, tenant: string) {
  const hash = createHash("sha256").update(key).digest("hex");
  return { hash, prefix: key.slice(0, 12), tenant_id: tenant, expires_at: null };
}

function defaultDials(): Dials {
  return {
    helmRefusal: null,
    engineGone: false,
    tenant: { id: "t1", name: "demo", enabled: true },
    pair: {
      id: "pair-1",
      pilot: "pilot",
      target: "target",
      mapper_sha256: "a".repeat(64),
      mapper_bytes: 1,
      refusal: null,
      development: true,
      pilot_weights_sha256: "p",
      target_weights_sha256: "t",
    },
    route: {
      name: "helm-auto",
      pair_id: "pair-1",
      judge: { version: "logprob-1", mean_logprob: -1, min_logprob: -4 },
      streaming: "window",
      window: 2,
      default_max_tokens: 32,
      hold_turns: null,
    },
    readiness: { pair_id: "pair-1", state: "READY", min_tokens: 1 },
    reverse: null,
  };
}
