import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeReadiness, SnapshotPair } from "@helm/contracts";
import { HostClient, type HostIdentity, type Logger, type PythonHome, pythonEnvironment } from "@helm/host";
import { Configuration } from "./config/configuration";
import { ControlLink } from "./config/control-link";
import { DocumentStore } from "./config/document-store";
import { KeyUse } from "./config/key-use";
import { PairRoom } from "./config/pair-room";
import { EngineSupervisor } from "./engine/engine-supervisor";
import { MemoryWatch } from "./engine/memory-watch";
import { runModelCanary } from "./engine/model-canary";
import { ParkableEngine } from "./engine/parkable-engine";
import { processBytes } from "./engine/process-bytes";
import { promisedBeside } from "./engine/promised-beside";
import type { ServingEngine } from "./engine/serving-engine";
import { isLoopback, type NodeConfig } from "./environment";
import { Salts } from "./escalation/salts";
import { Sessions } from "./escalation/sessions";
import { GatewayMetrics } from "./gateway/counters/metrics";
import { StatsCollector } from "./gateway/counters/stats";
import {
  defaultLimits,
  type GatewayResources,
  type RouteView,
  type RoutingView,
} from "./gateway/exchange/resources";
import { GatewayServer } from "./gateway/gateway-server";
import { Shares } from "./gateway/shares/shares";
import type { NodeHardware } from "./hardware";
import { ownOrigin } from "./playground/own-origin";
import { PlaygroundDoor } from "./playground/playground-door";
import { PlaygroundKey } from "./playground/playground-key";
import { ServingPath } from "./serving/serving-path";
import type { Telemetry } from "./telemetry/telemetry";
import { TraceOutbox } from "./trace/trace-outbox";
import { TraceRecorder } from "./trace/trace-recorder";

export interface NodeParts {
  config: NodeConfig;
  identity: HostIdentity;
  hardware: NodeHardware;
  python: PythonHome;
  log: Logger;
  /** Null where nobody takes spans. */
  telemetry?: Telemetry | null;
}

const GATEWAY_DRAIN_MS = 5_000;
const CANARY_LENGTHS = [64, 256, 1024, 4096];
const MOST_WAITING = 4_096;

/** Engine, gateway and configuration of one host, from start to stop. */
export class Node {
  private readonly configuration: Configuration;
  private readonly keyUse = new KeyUse();
  private readonly traceOutbox = new TraceOutbox();
  private readonly playgroundKey = new PlaygroundKey();
  private readonly stats = new StatsCollector(undefined, this.keyUse, () => this.traceOutbox.takeLeftOut());
  private readonly metrics = new GatewayMetrics();
  private readonly artifacts: HostClient;
  private readonly pairs: PairRoom;
  private readonly gateway: GatewayServer;
  private readonly sessions = new Sessions();
  private engine: ParkableEngine<EngineSupervisor> | null = null;
  private readonly serving: ServingPath;
  private link: ControlLink | null = null;
  private readonly memory: MemoryWatch;
  private socketFolder: string | null = null;

  constructor(private readonly parts: NodeParts) {
    const { config, identity, hardware, log } = parts;
    const documents = new DocumentStore(join(config.stateDir, "config", identity.id));
    const known = { signingKey: identity.signing_key, nodeId: identity.id };
    this.configuration = new Configuration(documents, known, log, undefined, this.keyUse);
    this.artifacts = new HostClient({ controlUrl: config.controlUrl, credential: identity.credential });
    this.pairs = new PairRoom(
      {
        mapperDir: this.mapperDir,
        artifacts: this.artifacts,
        development: hardware.development,
        nodeId: identity.id,
        canaryLengths: CANARY_LENGTHS,
        canaryMs: config.canaryMs,
      },
      log,
      () => this.link?.sendReadiness(),
    );
    this.serving = new ServingPath(
      {
        canary: (engine) => runModelCanary(engine.client, engine.models.keys()),
        onCanary: () => this.pairs.canaryAgain(this.configuration.snapshot),
        onEngineWanted: (wanted) => (wanted ? this.engine?.run() : this.engine?.park()),
      },
      log,
      () => this.link?.sendReadiness(),
    );
    this.memory = new MemoryWatch(log);
    this.gateway = new GatewayServer(this.resources());
  }

  /** Listens at once; requests are served as soon as an engine has passed its canary. Resolves with the port. */
  async start(): Promise<number> {
    const { config, identity, log } = this.parts;
    await mkdir(this.mapperDir, { recursive: true, mode: 0o700 });
    await this.configuration.restore();
    this.serving.restore(this.configuration.orders);
    const port = await this.gateway.listen(config.port, config.bind);
    const socketPath = await this.socketPath();
    this.engine = new ParkableEngine(
      () => this.makeEngine(socketPath),
      (parked) => this.serving.engineParked(parked),
    );
    // None runs yet: whether one is wanted follows from the orders of an earlier life.
    this.serving.engineParked(true);
    this.reconcile();
    this.link = new ControlLink(
      {
        controlUrl: config.controlUrl,
        credential: identity.credential,
        configuration: this.configuration,
        stats: this.stats,
        traces: this.traceOutbox,
        playground: new PlaygroundDoor(
          {
            key: this.playgroundKey,
            origin: () => ownOrigin(config.bind, port),
            route: (name) => this.routing().routes().get(name)?.pair ?? null,
          },
          log,
        ),
        readiness: () => this.readiness(),
        onDocument: (kind) => {
          if (kind !== "orders") this.reconcile();
          else if (this.configuration.orders) this.serving.obey(this.configuration.orders);
        },
      },
      log,
    );
    this.memory.start();
    return port;
  }

  async stop(): Promise<void> {
    await this.gateway.close(GATEWAY_DRAIN_MS);
    this.memory.stop();
    await this.link?.close();
    this.serving.close();
    this.pairs.close();
    await this.engine?.stop();
    await this.artifacts.close();
    if (this.socketFolder) await rm(this.socketFolder, { recursive: true, force: true });
  }

  private get mapperDir(): string {
    return join(this.parts.config.stateDir, "mappers");
  }

  private makeEngine(socketPath: string): EngineSupervisor {
    const { config, hardware, python, log } = this.parts;
    const lease = { directory: config.leaseDir, device: hardware.leaseName };
    return new EngineSupervisor(
      {
        python: python.python,
        models: config.models,
        socketPath,
        mapperDir: this.mapperDir,
        device: hardware.device === "cpu" ? "cpu" : "cuda",
        environment: pythonEnvironment(python),
        budgets: config.engineBudgets,
        maxWaiting: MOST_WAITING,
        startMs: config.engineStartMs,
        lease,
        promisedBeside: () => promisedBeside(python, lease, hardware.guardName, log),
        ...(hardware.device === "cpu"
          ? {}
          : { measureProcess: (pid) => processBytes(python, hardware.guardName, pid, log) }),
      },
      log,
      (engine) => this.engineChanged(engine),
      () => this.link?.sendReadiness(),
    );
  }

  private engineChanged(engine: ServingEngine | null): void {
    this.sessions.forgetLines();
    this.serving.engineChanged(engine);
    this.memory.engineChanged(engine);
    this.reconcile();
  }

  /** Beside the state where its path fits into a socket address, else in a folder of its own that goes with us. */
  private async socketPath(): Promise<string> {
    const path = join(this.parts.config.stateDir, "engine.sock");
    if (Buffer.byteLength(path) < 100) return path;
    this.socketFolder = await mkdtemp(join(tmpdir(), "helm-"));
    return join(this.socketFolder, "engine.sock");
  }

  private reconcile(): void {
    this.pairs.reconcile(this.configuration.snapshot, this.engine?.running?.current ?? null);
    const generation = this.configuration.snapshot?.generation ?? 0;
    for (const kind of ["desired", "acked", "active"]) this.metrics.generation.set({ kind }, generation);
  }

  private readiness(): NodeReadiness {
    const engine = this.engine?.running?.current ?? null;
    const generation = this.configuration.snapshot?.generation ?? 0;
    return {
      active_generation: generation,
      acked_generation: generation,
      access_version: this.configuration.accessVersion,
      engine: {
        name: engine?.name ?? "reference",
        healthy: engine !== null,
        why_not: engine ? null : (this.engine?.running?.whyNot ?? null),
        development: this.parts.hardware.development,
        models: [...(engine?.models.values() ?? [])].map(({ id, weights_sha256, max_model_len }) => ({
          id,
          weights_sha256,
          max_model_len,
        })),
      },
      pairs: this.pairs.list(),
      serving: this.serving.report(),
      machine: this.parts.config.machine,
      memory: this.memory.report,
      remarks: this.configuration.remarks,
    };
  }

  private resources(): GatewayResources {
    const { telemetry } = this.parts;
    return {
      engine: () => this.engine?.running?.current ?? null,
      routing: this.routing(),
      serving: this.serving,
      salts: new Salts(),
      sessions: this.sessions,
      metrics: this.metrics,
      metricsAccess: {
        token: this.parts.config.metricsToken ?? null,
        local: isLoopback(this.parts.config.bind) && this.parts.config.url === undefined,
      },
      stats: this.stats,
      traces: new TraceRecorder({
        rate: () => this.configuration.traceRate,
        generation: () => this.configuration.snapshot?.generation ?? 0,
        development: this.parts.hardware.development,
        outbox: this.traceOutbox,
        ...(telemetry ? { watch: (trace, parent) => telemetry.record(trace, parent) } : {}),
      }),
      shares: new Shares(),
      limits: { ...defaultLimits, admissionMs: this.parts.config.admissionMs },
      development: this.parts.hardware.development,
      log: this.parts.log.child({ part: "gateway" }),
    };
  }

  private routing(): RoutingView {
    const { configuration, pairs, memory } = this;
    const viewOf = (pair: SnapshotPair) => ({ pair, readiness: pairs.readiness(pair.id) });
    const reverseOf = (pair: SnapshotPair) => {
      const back = configuration.snapshot?.pairs.find(
        (one) => one.pilot === pair.target && one.target === pair.pilot,
      );
      return back ? viewOf(back) : null;
    };
    const { verdict } = this.parts.hardware;
    return {
      get configured() {
        return configuration.configured;
      },
      authenticate: (authorization) =>
        this.playgroundKey.tenantOf(authorization) ?? configuration.authenticate(authorization),
      helmRefusal: () => {
        if (configuration.helmOff) return "HELM_OFF";
        if (verdict === "refused") return "HW_REFUSED";
        return memory.telemetry.allows("routing") ? null : "TELEMETRY_STALE";
      },
      routes: () => {
        const views = new Map<string, RouteView>();
        for (const route of configuration.snapshot?.routes ?? []) {
          const pair = configuration.snapshot?.pairs.find((one) => one.id === route.pair_id);
          if (pair) views.set(route.name, { route, ...viewOf(pair), reverse: reverseOf(pair) });
        }
        return views;
      },
    };
  }
}
