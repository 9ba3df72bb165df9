// Figures of the control plane on this machine. Usage: npm run bench:control -- [--quick] [--write] [--only consoles,queries,workers,memory]
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDb, type Db } from "@helm/db";
import { startEmbeddedPostgres } from "@helm/db/embedded";
import { startControlPlane } from "../boot";
import { readConfig } from "../config";
import { createLog } from "../logging";
import type { TestControlPlane } from "../testing/control-plane";
import { NODE_TOKEN, WORKER_TOKEN } from "../testing/names";
import { addPerson, signIn } from "../testing/people";
import { AUTH_SECRET, type ControlPlaneProcess, controlPlaneProcess } from "../testing/process";
import { consoleQueries } from "./console-calls";
import { measureConsoles } from "./consoles";
import { FULL, loadFleet, SMALL } from "./load";
import { machineNow } from "./machine";
import { measureQueries } from "./measure-queries";
import type { Measured } from "./measured";
import { QUERIES } from "./queries";
import { report } from "./report";
import { templateRun } from "./template-run";
import { measureWorkers } from "./workers";

const option = (name: string) => {
  const at = process.argv.indexOf(name);
  return at === -1 ? null : (process.argv[at + 1] ?? null);
};
const only = option("--only")?.split(",") ?? null;
const wanted = (part: string) => only === null || only.includes(part);
/** Whether it runs at all; its figures say nothing of the aims. */
const quick = process.argv.includes("--quick");
const say = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const measured: Measured = {
    before: machineNow(),
    after: machineNow(),
    consoles: null,
    queries: null,
    workers: null,
    memory: null,
  };
  const memoryFile = option("--memory");
  if (memoryFile) measured.memory = JSON.parse(await readFile(memoryFile, "utf8"));
  if (["consoles", "queries", "workers"].some(wanted)) await onDatabase(measured);
  measured.after = machineNow();
  const { text, page, met } = report(measured);
  process.stdout.write(text);
  const file = option("--page");
  if (process.argv.includes("--write") && !quick && file) {
    await writeFile(file, page);
    say(`Written: ${file}`);
  }
  if (quick) say("A quick run: that it goes through is all it says.");
  process.exitCode = met || quick ? 0 : 3;
}

async function onDatabase(measured: Measured): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "helm-bench-control-"));
  const postgres = await startEmbeddedPostgres({ stateDir: join(folder, "postgres"), port: "free" });
  const stateDir = join(folder, "state");
  const env = {
    HELM_BOOTSTRAP_JOIN_TOKENS: `worker:${WORKER_TOKEN},node:${NODE_TOKEN}`,
    HELM_LOG_LEVEL: "warn",
  };
  const planes: ControlPlaneProcess[] = [];
  const db = createDb(postgres.url, { poolSize: 4 });
  try {
    const start = async () => {
      const main = option("--main") ?? undefined;
      const plane = await controlPlaneProcess({ databaseUrl: postgres.url, stateDir, env, main });
      planes.push(plane);
      await plane.ready();
      return plane;
    };
    const a = await start();
    const b = await start();
    const admin = await addPerson({ db } as Pick<TestControlPlane, "db">, "admin");
    const { bearer } = await signIn(a, admin.email);
    say("one run through the worker's protocol, to copy from");
    const template = await templateRun({ request: a.request, as: () => a.caller(bearer) });
    const loading = performance.now();
    say("filling the database");
    await loadFleet(postgres.url, template, quick ? SMALL : FULL);
    const loadSeconds = (performance.now() - loading) / 1000;
    say(`filled in ${loadSeconds.toFixed(0)} s`);
    if (wanted("consoles")) measured.consoles = await consoles(db, a, b, bearer);
    if (wanted("queries")) measured.queries = await queries(db, postgres.url, stateDir, loadSeconds);
    if (wanted("workers")) {
      say("50 workers claim");
      measured.workers = await measureWorkers(db, [a.url, b.url], { workers: 50, seconds: quick ? 4 : 20 });
    }
  } catch (error) {
    for (const plane of planes) say(plane.output().slice(-4_000));
    throw error;
  } finally {
    await Promise.all(planes.map((plane) => plane.stop()));
    await db.$disconnect();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function consoles(db: Db, a: ControlPlaneProcess, b: ControlPlaneProcess, bearer: string) {
  say("200 consoles follow one run");
  const token = (await a.caller(bearer).host.createJoinToken({ kind: "worker" })).token;
  const { joinWorker } = await import("../testing/worker");
  const worker = await joinWorker(b, token);
  const pair = await db.pair.findFirstOrThrow({
    where: { calibrations: { none: { state: { in: ["QUEUED", "RUNNING"] } } } },
    include: { source: true, target: true },
  });
  await a.caller(bearer).calibration.start({ pairId: pair.id, device: "cpu" });
  const job = (await worker.claim({ models: [pair.source.name, pair.target.name] })).json;
  const result = await measureConsoles({
    urls: [a.url, b.url],
    token: bearer,
    consoles: 200,
    segments: quick ? 1 : 8,
    run: { id: job.id, attempt: job.attempt },
    worker: { url: b.url, credential: worker.credential },
  });
  await worker.finish(job.id, { attempt: job.attempt, outcome: "cancelled" });
  return result;
}

async function queries(db: Db, databaseUrl: string, stateDir: string, loadSeconds: number) {
  say("every query of every page, with its plan");
  const config = readConfig({
    HELM_PORT: "0",
    DATABASE_URL: databaseUrl,
    HELM_STATE_DIR: stateDir,
    HELM_AUTH_SECRET: AUTH_SECRET,
    HELM_LOG_LEVEL: "silent",
  });
  const plane = await startControlPlane(config, createLog("silent"));
  try {
    const pages = consoleQueries();
    const paths = [...new Set([...pages, ...Object.keys(QUERIES)])].filter((path) => path in QUERIES);
    const measured = await measureQueries({
      services: plane.services,
      databaseUrl,
      paths,
      calls: quick ? 4 : 40,
      explanations: quick ? 1 : 4,
    });
    const count = async (table: string) =>
      Number((await db.$queryRawUnsafe<{ n: bigint }[]>(`SELECT count(*) AS n FROM "${table}"`))[0]?.n ?? 0);
    const rows: Record<string, number> = {};
    for (const table of [
      "calibration",
      "sequence_count",
      "calibration_event",
      "score",
      "audit_entry",
      "request_stat",
      "request_stat_hour",
      "request_trace",
    ])
      rows[table] = await count(table);
    return { measured, unknown: pages.filter((path) => !(path in QUERIES)), loadSeconds, rows };
  } finally {
    await plane.stop();
  }
}

await main();
