import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import {
  acquireEngineStart,
  type EngineLease,
  type GroupedChild,
  type LeasePlace,
  type Logger,
  spawnGroup,
} from "@helm/host";
import { budgetOptions, type EngineBudgets } from "./engine-budgets";
import { EngineClient } from "./engine-client";
import { hearEnd } from "./engine-end";
import { footprintOf } from "./engine-footprint";
import { type EngineState, moveEngine } from "./engine-states";
import { runModelCanary } from "./model-canary";
import { describeEngine, type ServingEngine } from "./serving-engine";

export interface EngineSettings {
  python: string;
  /** Served name and folder; the first is the pilot where there are two. */
  models: readonly { name: string; folder: string }[];
  socketPath: string;
  mapperDir: string;
  device: string;
  budgets?: EngineBudgets;
  environment: NodeJS.ProcessEnv;
  maxWaiting: number;
  startMs: number;
  /** Where engines of this device start one after another. */
  lease: LeasePlace;
  /** Bytes of the device that engines beside this one were promised and have not taken yet. */
  promisedBeside?: () => Promise<number>;
  /** Bytes that the device's driver counts for a process; null where it does not say. */
  measureProcess?: (pid: number) => Promise<number | null>;
}

const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 30_000;
const HEALTH_EVERY_MS = 2_000;
const HEALTH_MISSES = 5;
const STEADY_MS = 60_000;
const DRAIN_MS = 8_000;

/** Keeps one engine running: starts it, lets it serve after a canary, and starts it again when it ends. */
export class EngineSupervisor {
  private state: EngineState = "STOPPED";
  private serving: ServingEngine | null = null;
  private child: GroupedChild | null = null;
  private why: string | null = null;
  private lastWords: () => string | null = () => null;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | null = null;

  constructor(
    private readonly settings: EngineSettings,
    private readonly log: Logger,
    /** Told whenever an engine joins the serving path or leaves it. */
    private readonly onChange: (engine: ServingEngine | null) => void,
    /** Told whenever there is another reason why none serves. */
    private readonly onWhyNot: () => void = () => {},
  ) {}

  get current(): ServingEngine | null {
    return this.serving;
  }

  /** The engine's process; null while there is none. */
  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** Why no engine serves, in a sentence; null where one does, or is just being made. */
  get whyNot(): string | null {
    return this.why;
  }

  start(): void {
    this.loop ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.child?.end(DRAIN_MS);
    await this.loop;
    await rm(this.settings.socketPath, { force: true });
  }

  private async run(): Promise<void> {
    let backOff = FIRST_BACK_OFF_MS;
    while (!this.stopping.signal.aborted) {
      this.move("STARTING");
      const began = performance.now();
      await this.live().catch((error: unknown) => {
        if (this.stopping.signal.aborted) return;
        this.log.error({ err: error }, "the engine could not be used");
        this.tell(`The last engine could not be used: ${(error as Error).message.replace(/\.$/, "")}.`);
      });
      if (this.stopping.signal.aborted) break;
      this.move("BACKING_OFF");
      if (performance.now() - began > STEADY_MS) backOff = FIRST_BACK_OFF_MS;
      this.log.warn({ again_in_ms: backOff }, "the engine ended; it will be started again");
      await pause(backOff, undefined, { signal: this.stopping.signal }).catch(() => {});
      backOff = Math.min(LONGEST_BACK_OFF_MS, backOff * 2);
    }
    this.move("STOPPING");
    this.move("STOPPED");
  }

  /** One life of the engine process; returns or throws when it is over, and nothing of it is left then. */
  private async live(): Promise<void> {
    const client = new EngineClient({ socketPath: this.settings.socketPath });
    const lease = await this.waitForTurn();
    try {
      await rm(this.settings.socketPath, { force: true });
      this.child = await this.spawn();
      await lease.noteProcess(this.child.pid);
      const engine = await this.bringUp(client, this.child);
      await lease.settle(await this.measure(engine, this.child.pid));
      this.serving = engine;
      this.move("SERVING");
      this.tell(null);
      this.log.info({ engine: engine.name, models: [...engine.models.keys()] }, "the engine serves");
      this.onChange(engine);
      await this.watch(client, this.child);
      if (!this.stopping.signal.aborted) this.tell("The last engine ended; it is started again.");
    } finally {
      const served = this.serving !== null;
      this.serving = null;
      if (served) this.onChange(null);
      await this.child?.end(DRAIN_MS);
      this.child = null;
      await client.close();
      await lease.release();
    }
  }

  /** Engines that start together would count each other's memory: one after another. */
  private async waitForTurn(): Promise<EngineLease> {
    const lease = await acquireEngineStart({
      ...this.settings.lease,
      purpose: `engine of ${this.settings.models.map((model) => model.name).join(" and ")}`,
      signal: this.stopping.signal,
      onWaiting: ({ pid, purpose, since }) => {
        const sentence = `The engine waits until process ${pid} has started its own on this device (${purpose}, since ${since}).`;
        this.log.info(sentence);
        this.tell(sentence);
      },
    });
    this.tell(null);
    return lease;
  }

  private async measure(engine: ServingEngine, pid: number) {
    const { device, measureProcess } = this.settings;
    const footprint = footprintOf(
      engine.memory,
      device === "cpu" ? "cpu" : "gpu",
      (await measureProcess?.(pid)) ?? null,
    );
    this.log.info(footprint, "the engine was measured after its load");
    return footprint;
  }

  private async spawn(): Promise<GroupedChild> {
    const { settings } = this;
    const models = settings.models.flatMap(({ name, folder }) => ["--model", `${name}=${folder}`]);
    const promised = Math.ceil((await settings.promisedBeside?.()) ?? 0);
    const child = await spawnGroup(
      settings.python,
      [
        "-m",
        "lifeboat_kv.engine",
        ...models,
        "--listen",
        `unix:${settings.socketPath}`,
        "--mapper-dir",
        settings.mapperDir,
        "--device",
        settings.device,
        ...budgetOptions(settings.budgets),
        ...(promised > 0 ? ["--promised-bytes", String(promised)] : []),
        "--exit-with-parent",
      ],
      { env: { ...settings.environment, LIFEBOAT_PARENT_PID: String(process.pid) } },
    );
    this.lastWords = relayLog(child, this.log);
    // A stop may have come while the process was being made.
    if (this.stopping.signal.aborted) void child.end(DRAIN_MS);
    return child;
  }

  /** Waits until the engine answers, then has every model answer a canary. */
  private async bringUp(client: EngineClient, child: GroupedChild): Promise<ServingEngine> {
    const deadline = performance.now() + this.settings.startMs;
    let ended = false;
    void child.exit.then(() => {
      ended = true;
    });
    while (!(await client.healthy())) {
      if (ended)
        throw new Error(this.lastWords() ?? "the engine ended while it started; its own words stand above");
      if (performance.now() > deadline)
        throw new Error(`the engine did not answer within ${this.settings.startMs} ms`);
      await pause(100, undefined, { signal: this.stopping.signal });
    }
    const engine = await describeEngine(client, this.settings.maxWaiting);
    await runModelCanary(client, engine.models.keys());
    // Measured again: its first requests bring in what loading alone does not.
    return { ...engine, memory: await client.memory() };
  }

  /** Returns when the process has ended, or was ended because it no longer answers. */
  private async watch(client: EngineClient, child: GroupedChild): Promise<void> {
    let misses = 0;
    const over = child.exit.then(() => true as const);
    for (;;) {
      const ended = await Promise.race([over, pause(HEALTH_EVERY_MS, false as const)]);
      if (ended) return;
      misses = (await client.healthy()) ? 0 : misses + 1;
      if (misses < HEALTH_MISSES) continue;
      this.log.error("the engine no longer answers and is ended");
      return;
    }
  }

  private tell(why: string | null): void {
    if (why === this.why) return;
    this.why = why;
    this.onWhyNot();
  }

  private move(to: EngineState): void {
    this.state = moveEngine(this.state, to);
  }
}

const levels = new Set(["debug", "info", "warning", "error", "critical"]);

/** Returns what the engine said of why it ends, once it has. */
function relayLog(child: GroupedChild, log: Logger): () => string | null {
  const own = log.child({ from: "engine" });
  const lastWords = hearEnd(child, (line) => own.debug(line));
  createInterface({ input: child.stderr }).on("line", (line) => {
    const parsed = parseLine(line);
    if (!parsed) own.warn(line);
    else if (parsed.level === "error" || parsed.level === "critical") own.error(parsed.message);
    else if (parsed.level === "warning") own.warn(parsed.message);
    else own.debug(parsed.message);
  });
  return lastWords;
}

function parseLine(line: string): { level: string; message: string } | null {
  try {
    const { level, msg } = JSON.parse(line) as { level?: string; msg?: string };
    const known = level?.toLowerCase() ?? "";
    return levels.has(known) && typeof msg === "string" ? { level: known, message: msg } : null;
  } catch {
    return null;
  }
}
