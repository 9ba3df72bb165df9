import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startChild, tailOf } from "./child.mjs";
import { hardwareOf } from "./ensure-python.mjs";
import { STATE, VENV_PYTHON } from "./paths.mjs";
import { choosePorts } from "./ports.mjs";
import * as programs from "./programs.mjs";
import { findRunning, forgetRunning, recordRunning } from "./running.mjs";
import { ensureSecrets, joinTokensFor } from "./secrets.mjs";
import { Sorry } from "./sorry.mjs";

/** Who waits for whom: a later group is stopped before an earlier one. */
const STOP_ORDER = [["console", "node", "worker"], ["control-plane"], ["postgres"]];

export class AlreadyRunning extends Sorry {
  constructor(record) {
    super(`Helm runs already (process ${record.pid}).`);
    this.record = record;
  }
}

/**
 * Brings the product up and gives {urls, setupToken, hardware, pids, stop}.
 * `ports`: "default" or "free". `onLine` gets progress sentences; `onEnded(name, how, tail)` is called when a
 * program ends by itself. `signal` (AbortSignal) stops a start that is under way.
 */
export async function startProduct(options = {}) {
  const product = new Product(options);
  try {
    await product.start();
  } catch (error) {
    await product.stop();
    throw error;
  }
  return {
    urls: product.urls,
    setupToken: product.secrets.setupToken,
    setupOpen: product.setupOpen,
    hardware: product.hardware,
    pids: product.pids(),
    stateDir: product.stateDir,
    stop: () => product.stop(),
  };
}

class Product {
  constructor({ stateDir = STATE, ports = "default", seed = "bundled", dev = false, env = {}, ...rest }) {
    this.stateDir = resolve(stateDir);
    this.portKind = ports;
    this.seed = seed;
    this.dev = dev;
    this.extraEnv = env;
    this.wanted = { console: rest.console ?? true, worker: rest.worker ?? true, node: rest.node ?? true };
    this.onLine = rest.onLine ?? (() => {});
    this.onEnded = rest.onEnded ?? (() => {});
    this.signal = rest.signal;
    this.children = new Map();
    this.urls = {};
    this.owner = false;
  }

  async start() {
    mkdirSync(join(this.stateDir, "logs"), { recursive: true, mode: 0o700 });
    const record = findRunning(this.stateDir);
    if (record) throw new AlreadyRunning(record);
    recordRunning(this.stateDir, { urls: {} });
    this.owner = true;
    this.secrets = ensureSecrets(this.stateDir);
    // What waits for nothing begins at once: Python's look at the hardware and the database.
    const hardware = hardwareOf(VENV_PYTHON);
    const postgres = process.env.DATABASE_URL ?? this.startPostgres();
    for (const promise of [hardware, postgres]) Promise.resolve(promise).catch(() => {});
    const ports = await choosePorts(this.portKind, [
      "controlPlane",
      ...(this.wanted.console ? ["console"] : []),
      ...(this.wanted.node ? ["gateway"] : []),
    ]);
    const controlPlaneUrl = `http://127.0.0.1:${ports.controlPlane}`;
    const consoleUrl = ports.console ? `http://127.0.0.1:${ports.console}` : undefined;
    this.urls = {
      console: consoleUrl,
      controlPlane: controlPlaneUrl,
      gateway: ports.gateway ? `http://127.0.0.1:${ports.gateway}` : undefined,
    };

    // So does the console, which serves its pages without the control plane.
    const waits = [];
    const early = (promise) => {
      promise.catch(() => {});
      waits.push(promise);
    };
    if (this.wanted.console)
      early(
        this.bring(
          programs.consoleProgram({ ports, controlPlaneUrl, secrets: this.secrets, dev: this.dev }),
          120,
          () => answers(`${consoleUrl}/icon.svg`),
        ),
      );

    this.hardware = await hardware;
    // Without a GPU the hosts run in development mode; beside a GPU the CPU is never chosen silently.
    const device = process.env.HELM_DEVICE ?? (this.hardware.verdict === "none" ? "cpu" : "auto");
    const joinTokens = joinTokensFor(
      ["worker", "node"].filter((kind) => this.wanted[kind] && !this.hasJoined(kind)),
    );
    const common = {
      stateDir: this.stateDir,
      ports,
      publicUrl: process.env.HELM_PUBLIC_URL ?? consoleUrl ?? controlPlaneUrl,
      embedded: !process.env.DATABASE_URL,
      controlPlaneUrl,
      secrets: this.secrets,
      joinTokens,
      seed: this.seed,
      device,
      dev: this.dev,
    };
    const bringNode = () =>
      this.bring(programs.nodeProgram(common), 240, () => nodeIsUp(`${this.urls.gateway}/health`));
    // A node that has joined loads its models meanwhile: that takes longer than all the rest.
    const nodeWaits = this.wanted.node && joinTokens.node !== undefined;
    if (this.wanted.node && !nodeWaits) early(bringNode());
    const databaseUrl = await postgres;
    await this.bring(programs.controlPlaneProgram({ ...common, databaseUrl }), 60, () =>
      answers(`${controlPlaneUrl}/api/health`),
    );
    if (nodeWaits) early(bringNode());
    if (this.wanted.worker)
      early(this.bring(programs.workerProgram(common), 120, (log) => log().includes('"msg":"joined"')));
    await Promise.all(waits);
    this.setupOpen = await isSetupOpen(controlPlaneUrl);
    recordRunning(this.stateDir, { urls: this.urls });
  }

  hasJoined(kind) {
    return existsSync(join(this.stateDir, kind, "identity.json"));
  }

  async startPostgres() {
    const child = this.launch(programs.postgresProgram(this.stateDir));
    const found = await this.until(child, 60, async () => {
      const line = tailOf(child.logFile)
        .split("\n")
        .find((text) => text.startsWith('{"port"'));
      return line ? JSON.parse(line) : null;
    });
    const password = readFileSync(join(this.stateDir, "postgres", "password"), "utf8").trim();
    this.onLine(found.adopted ? "postgres (taken over: it was still running)" : "postgres");
    return `postgresql://${found.role}:${password}@127.0.0.1:${found.port}/${found.database}`;
  }

  /** Starts a program and waits for `isReady`, which gets its log. */
  async bring(program, patience, isReady) {
    const child = this.launch(program);
    await this.until(child, patience, () => isReady(() => readFileSync(child.logFile, "utf8")));
    this.onLine(program.name);
  }

  launch(program) {
    this.signal?.throwIfAborted();
    const parent = program.watchesLauncher ? "HELM_LAUNCHER_PID" : "HELM_PARENT_PID";
    const child = startChild({
      ...program,
      command: process.execPath,
      env: {
        ...process.env,
        NODE_ENV: this.dev ? "development" : "production",
        ...program.env,
        ...this.extraEnv,
        [parent]: String(process.pid),
      },
      logFile: join(this.stateDir, "logs", `${program.name}.log`),
      onEnded: (name, how) => this.onEnded(name, how, child.sayTail()),
    });
    this.children.set(program.name, child);
    return child;
  }

  /** Asks again and again until there is an answer; a program that ends or stays silent is an error. */
  async until(child, patience, look) {
    const deadline = Date.now() + patience * 1_000;
    for (;;) {
      this.signal?.throwIfAborted();
      const found = await look();
      if (found) return found;
      const why = child.state.ended
        ? child.state.how
        : Date.now() > deadline
          ? `did not answer within ${patience} s`
          : "";
      if (why)
        throw new Sorry(
          `The ${child.name} ${why}. The end of its log (${child.logFile}):\n${child.sayTail()}`,
        );
      await new Promise((done) => setTimeout(done, 150));
    }
  }

  pids() {
    return Object.fromEntries([...this.children].map(([name, child]) => [name, child.pid]));
  }

  async stop() {
    this.stopped ??= this.stopAll();
    return this.stopped;
  }

  async stopAll() {
    for (const child of this.children.values()) child.state.stopping = true;
    for (const group of STOP_ORDER) {
      await Promise.all(group.map((name) => this.children.get(name)?.stop()));
    }
    if (this.owner) forgetRunning(this.stateDir);
  }
}

async function answers(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: "manual" });
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    return false;
  }
}

/** A node that was told to drain stays drained over a restart: it is there, and takes no requests on purpose. */
async function nodeIsUp(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: "manual" });
    const { serving } = await response.json();
    return response.status < 500 || serving === "DRAINED" || serving === "PARKED";
  } catch {
    return false;
  }
}

async function isSetupOpen(controlPlaneUrl) {
  const response = await fetch(`${controlPlaneUrl}/trpc/setup.status`, {
    signal: AbortSignal.timeout(10_000),
  });
  const body = await response.json();
  return body?.result?.data?.json?.open ?? null;
}
