import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClaimedJob, DeviceTelemetry, EventBatch, FinishRequest } from "@helm/contracts";
import { createLogger, OUTBOX_LIMITS, type PythonHome, writeFileAtomic } from "@helm/host";
import { onTestFinished } from "vitest";
import type { WorkerConfig } from "./config";
import type { WorkerOptions } from "./worker";

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "helm-worker-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A control plane of the test's own that speaks the worker protocol over HTTP and can go away and come back on its
 * port. The real one runs in the end-to-end tests.
 */
export class TestControlPlane {
  jobs: ClaimedJob[] = [];
  claims: Record<string, unknown>[] = [];
  batches: EventBatch[] = [];
  finished: FinishRequest[] = [];
  uploads: { path: string; bytes: number }[] = [];
  beats = 0;
  action: "continue" | "cancel" | "fenced" = "continue";
  fenced = false;
  /** Whether a heartbeat said that the job's processes are gone. */
  roomFree = false;
  /** What heartbeats say that the job waits for. */
  waitsFor: string | null = null;
  refuseEvents = false;
  /** The store takes no artifact now; how often it said so. */
  storageFull = false;
  turnedAway = 0;
  /** Events are answered without success and with this code, as over the socket. */
  ackCode: string | null = null;
  private server: Server | null = null;
  private port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get seqs(): number[] {
    return this.batches.flatMap((batch) => batch.events.map((event) => event.seq));
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      void this.answer(request).then(({ status, body, headers }) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(body === undefined ? "" : JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => this.server?.close(() => resolve()) ?? resolve());
    this.server = null;
  }

  private take({ waiting, rooms }: { waiting?: string; rooms?: string[] }): ClaimedJob | undefined {
    if (waiting && !rooms) return undefined;
    if (this.jobs[0]?.kind === "calibration" && rooms && !rooms.includes("beside")) return undefined;
    return this.jobs.shift();
  }

  private async answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const url = request.url ?? "";
    if (url.startsWith("/socket.io")) return { status: 404 };
    if (url.startsWith("/api/worker/artifacts/")) {
      if (this.fenced) return fencedAnswer;
      if (request.method === "HEAD") return { status: 204, headers: { "upload-offset": "0" } };
      if (this.storageFull) {
        this.turnedAway += 1;
        return fullAnswer;
      }
      this.uploads.push({ path: url, bytes: bytes.length });
      return { status: 200, body: {} };
    }
    const json = JSON.parse(bytes.toString() || "{}");
    if (url === "/api/worker/claim") {
      this.claims.push(json);
      const job = this.take(json);
      return job ? { status: 200, body: job } : { status: 204 };
    }
    if (this.fenced) return fencedAnswer;
    if (url.endsWith("/heartbeat")) {
      this.beats++;
      this.roomFree ||= json.room_free === true;
      return { status: 200, body: { lease_ms: 1500, action: this.action, waits_for: this.waitsFor } };
    }
    if (url.endsWith("/events")) {
      if (this.refuseEvents) return { status: 400, body: { error: { code: "BAD_REQUEST", message: "no" } } };
      if (this.ackCode) return { status: 200, body: { ok: false, last_seq: 0, code: this.ackCode } };
      this.batches.push(json);
      return { status: 200, body: { ok: true, last_seq: json.events.at(-1).seq } };
    }
    this.finished.push(json);
    return { status: 200, body: {} };
  }
}

interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const fullAnswer = {
  status: 507,
  body: { error: { code: "STORAGE_FULL", message: "the disk is full", details: { neededBytes: 6 } } },
};

const fencedAnswer = {
  status: 409,
  body: { error: { code: "ATTEMPT_FENCED", message: "a newer attempt exists" } },
};

/** A CPU with memory for everything, as the library's guard tells it. */
export const freeDevice: DeviceTelemetry = {
  kind: "cpu",
  name: "this host",
  memory: { total_bytes: 64 * 1024 ** 3, free_bytes: 32 * 1024 ** 3, used_bytes: 32 * 1024 ** 3 },
  utilisation: null,
  processes: [],
  problems: [],
};

/**
 * TEST DOUBLE. An interpreter that prints what a test wants instead of calibrating, `steps` being its JavaScript, and that
 * answers the guard with the telemetry in `<folder>/device.json`: simulated, no device is asked.
 */
export async function scriptedPython(
  steps: string,
  device: DeviceTelemetry = freeDevice,
): Promise<PythonHome & { setDevice(device: unknown): Promise<void> }> {
  const folder = await temporaryFolder();
  const setDevice = (told: unknown) => writeFileAtomic(join(folder, "device.json"), JSON.stringify(told));
  await setDevice(device);
  const python = join(folder, "python");
  const source = `#!${process.execPath}
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
if (process.argv[4] === "guard") {
  const device = JSON.parse(readFileSync(__dirname + "/device.json", "utf8"));
  console.log(JSON.stringify({ v: 1, at: "now", type: "guard", device }));
  process.exit(0);
}
const out = process.argv[process.argv.indexOf("--out") + 1];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const emit = (event) => console.log(JSON.stringify({ v: 1, at: new Date().toISOString(), ...event }));
const log = (message) => emit({ type: "log", level: "info", message });
function result() {
  const sha256 = "ab".repeat(32);
  mkdirSync(out + "/" + sha256, { recursive: true });
  writeFileSync(out + "/" + sha256 + "/mapper.safetensors", "mapper");
  const kv_cosine = { k: 1, v: 1, k_by_layer_head: [[1]], v_by_layer_head: [[1]] };
  emit({ type: "result", artifact: { sha256, path: out + "/" + sha256 + "/mapper.safetensors", bytes: 6 },
    scores: { kl: 0, kl_p95: 0, kv_cosine }, cost: [], manifest: {} });
}
process.on("SIGTERM", () => { log("stopping"); process.exit(130); });
(async () => { ${steps} })();
`;
  await writeFile(python, source, { mode: 0o755 });
  return { python, source: folder, setDevice };
}

export async function workerOptions(
  controlPlane: TestControlPlane,
  python: PythonHome,
): Promise<WorkerOptions & { stop(): void }> {
  const folder = await temporaryFolder();
  for (const name of ["pilot", "target"]) {
    await mkdir(join(folder, "models", name), { recursive: true });
    await writeFile(join(folder, "models", name, "config.json"), "{}");
  }
  await mkdir(join(folder, "corpora", "bundled"), { recursive: true });
  await writeFile(join(folder, "corpora", "bundled", "manifest.json"), "{}");
  const stop = new AbortController();
  const config: WorkerConfig = {
    controlUrl: controlPlane.url,
    joinToken: undefined,
    stateDir: join(folder, "state"),
    leaseDir: join(folder, "leases"),
    modelRoots: [join(folder, "models")],
    corporaRoot: join(folder, "corpora"),
    hub: null,
    python: undefined,
    device: "cpu",
    name: "test",
    machine: "a".repeat(32),
    logLevel: "info",
    parentPid: undefined,
    pollMs: 200,
    outbox: OUTBOX_LIMITS,
    budget: { neededBytes: 1024 ** 3, mostUtilisation: 80, observers: [] },
  };
  return {
    config,
    identity: { control_url: controlPlane.url, id: "w", credential: "c", signing_key: "k" },
    hardware: {
      verdict: "none",
      sentence: "",
      devices: [],
      device: "cpu",
      leaseName: "cpu",
      guardName: "cpu",
    },
    python,
    log: createLogger("test", process.env.HELM_TEST_LOG ?? "silent"),
    signal: stop.signal,
    stop: () => stop.abort(new Error("stopped by the test")),
  };
}

export function calibrationJob(
  changes: Partial<Extract<ClaimedJob, { kind: "calibration" }>> = {},
): ClaimedJob {
  return {
    kind: "calibration",
    id: "job-1",
    attempt: "attempt-1",
    attempt_number: 1,
    lease_ms: 1500,
    source_model: "pilot",
    target_model: "target",
    corpus: "bundled",
    method: "ridge",
    k: 4,
    device: "cpu",
    options: {},
    ...changes,
  };
}
