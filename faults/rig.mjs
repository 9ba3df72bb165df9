import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Admin, until } from "../scripts/demo/admin.mjs";
import { startChild } from "../scripts/lib/child.mjs";
import { choosePorts } from "../scripts/lib/ports.mjs";
import {
  controlPlaneProgram,
  nodeProgram,
  postgresProgram,
  workerProgram,
} from "../scripts/lib/programs.mjs";
import { ensureSecrets, joinTokensFor } from "../scripts/lib/secrets.mjs";
import { kill9, naming, stillAlive, treeOf } from "./processes.mjs";
import { smallCorpus } from "./small-corpus.mjs";

/** Short enough to wait for, long enough for a busy machine to beat in. */
export const LEASE_MS = 8_000;

/**
 * The real programs as processes of their own, started one by one as `npm start` does, so that each can be killed and
 * started again: the embedded PostgreSQL, the control plane and workers from their bundles, and what they start.
 */
export class Rig {
  children = new Map();
  workers = 0;

  constructor({ leaseMs = LEASE_MS, seed = "bundled", env = {} } = {}) {
    this.stateDir = mkdtempSync(join(tmpdir(), "helm-faults-"));
    this.corpora = smallCorpus(join(this.stateDir, "corpora"));
    this.leaseMs = leaseMs;
    this.seed = seed;
    this.env = env;
    this.secrets = ensureSecrets(this.stateDir);
    this.tokens = joinTokensFor(["worker", "node"]);
    mkdirSync(join(this.stateDir, "logs"), { recursive: true });
  }

  async start() {
    this.ports = await choosePorts("free", ["controlPlane"]);
    this.url = `http://127.0.0.1:${this.ports.controlPlane}`;
    this.admin = new Admin(this.url);
    await this.startPostgres();
    await this.startControlPlane();
    await this.admin.setUp(this.secrets.setupToken);
  }

  async startPostgres() {
    const program = postgresProgram(this.stateDir);
    // The same port again, as long as this rig lives: clients come back by themselves.
    if (this.database) program.args.push(String(this.database.port));
    const child = this.launch(program);
    this.database = await until("PostgreSQL being ready", 60_000, () => {
      if (child.state.ended) throw new Error(`postgres ${child.state.how}: ${child.tail()}`);
      const line = readFileSync(child.logFile, "utf8")
        .split("\n")
        .find((text) => text.startsWith('{"port"'));
      return line && JSON.parse(line);
    });
    const password = readFileSync(join(this.stateDir, "postgres", "password"), "utf8").trim();
    const { role, port, database } = this.database;
    this.databaseUrl = `postgresql://${role}:${password}@127.0.0.1:${port}/${database}`;
  }

  async startControlPlane() {
    const program = controlPlaneProgram({
      stateDir: this.stateDir,
      ports: this.ports,
      publicUrl: this.url,
      databaseUrl: this.databaseUrl,
      embedded: true,
      secrets: this.secrets,
      joinTokens: this.tokens,
      seed: this.seed,
    });
    Object.assign(program.env, {
      HELM_LEASE_MS: String(this.leaseMs),
      HELM_CANCEL_FORCE_MS: "20000",
      HELM_AUTH_RATE_LIMIT: "0",
      HELM_LOG_LEVEL: "info",
    });
    const child = this.launch(program);
    await until("the control plane answering", 90_000, async () => {
      if (child.state.ended) throw new Error(`the control plane ${child.state.how}: ${child.tail()}`);
      return this.health();
    });
  }

  async health() {
    const response = await fetch(`${this.url}/api/health`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => null,
    );
    return response?.ok ?? false;
  }

  /** A worker under `name`; the same name again is the same worker in its next life. */
  async startWorker(name = "worker", { token = this.tokens.worker, leases = "shared" } = {}) {
    const program = workerProgram({
      stateDir: this.stateDir,
      controlPlaneUrl: this.url,
      joinTokens: { worker: token },
      device: "cpu",
    });
    Object.assign(program, { name });
    Object.assign(program.env, {
      HELM_WORKER_STATE: join(this.stateDir, "workers", name),
      HELM_LEASE_DIR: join(this.stateDir, "leases", leases),
      HELM_WORKER_NAME: name,
      HELM_CORPORA_ROOT: this.corpora,
      HELM_LOG_LEVEL: "debug",
      HELM_POLL_MS: "500",
      OMP_NUM_THREADS: "1",
      // A test's double of the library, and folders that stand for models.
      ...(this.python ? { HELM_PYTHON: this.python } : {}),
      ...(this.models ? { HELM_MODEL_ROOTS: this.models } : {}),
    });
    const child = this.launch(program);
    await until(`the ${name} having joined`, 120_000, () => {
      if (child.state.ended) throw new Error(`the ${name} ${child.state.how}: ${child.tail()}`);
      return readFileSync(child.logFile, "utf8").includes('"msg":"joined"');
    });
  }

  /** A node with the reference engine, on the port that it had before. */
  async startNode() {
    this.ports.gateway ??= (await choosePorts("free", ["gateway"])).gateway;
    this.gatewayUrl = `http://127.0.0.1:${this.ports.gateway}`;
    const program = nodeProgram({
      stateDir: this.stateDir,
      ports: this.ports,
      controlPlaneUrl: this.url,
      joinTokens: this.tokens,
      device: "cpu",
    });
    Object.assign(program.env, { HELM_CANARY_MS: "2000" });
    const child = this.launch(program);
    await until("the node serving", 240_000, async () => {
      if (child.state.ended) throw new Error(`the node ${child.state.how}: ${child.tail()}`);
      const answer = await fetch(`${this.gatewayUrl}/health`).catch(() => null);
      return answer?.ok;
    });
  }

  launch(program) {
    const child = startChild({
      ...program,
      command: process.execPath,
      env: {
        ...process.env,
        NODE_ENV: "production",
        ...program.env,
        ...this.env[program.name],
        HELM_PARENT_PID: String(process.pid),
      },
      logFile: join(this.stateDir, "logs", `${program.name}.log`),
    });
    this.children.set(program.name, child);
    return child;
  }

  pidOf(name) {
    return this.children.get(name)?.pid;
  }

  /** kill -9 of one program and not of what it started. */
  async kill(name) {
    const child = this.children.get(name);
    child.state.stopping = true;
    kill9([{ pid: child.pid }]);
    await child.gone;
  }

  /** kill -9 of the server itself, all of its processes, while its supervisor lives: it then ends by itself. */
  async killPostgres() {
    const supervisor = this.children.get("postgres");
    const server = treeOf(this.database.pid);
    kill9(server);
    await until("the database's processes being gone", 30_000, () => stillAlive(server).length === 0);
    await supervisor.gone;
  }

  /** The job of this worker, with what it started; empty while none runs. */
  jobOf(worker = "worker") {
    return treeOf(this.pidOf(worker)).filter((one) => one.command.includes("lifeboat_kv calibrate"));
  }

  /** Everything of this rig that lives, wherever it hangs. */
  left() {
    const own = [...this.children.values()].flatMap((child) => treeOf(child.pid));
    const seen = new Map([...own, ...naming(this.stateDir)].map((one) => [one.pid, one]));
    return [...seen.values()].filter((one) => one.pid !== process.pid);
  }

  async stop() {
    const names = [...this.children.keys()];
    const workers = names.filter((name) => name !== "postgres" && name !== "control-plane");
    for (const name of workers) await this.children.get(name).stop();
    for (const name of ["control-plane", "postgres"]) await this.children.get(name)?.stop();
  }

  remove() {
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
