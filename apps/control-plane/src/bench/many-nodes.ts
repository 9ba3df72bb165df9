// Simulated nodes take new generations from a control plane. Prints JSON. Usage: tsx many-nodes.ts --main MAIN.js [--quick] [--nodes N] [--generations N]
import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createDb, type Db } from "@helm/db";
import { startEmbeddedPostgres } from "@helm/db/embedded";
import { hashSecret, randomSecret } from "../access/secret";
import type { TestControlPlane } from "../testing/control-plane";
import { addPerson, signIn } from "../testing/people";
import { type ControlPlaneProcess, controlPlaneProcess } from "../testing/process";
import { bySegments, type Interval } from "./figures";
import type { CrowdTask } from "./node-crowd";

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const quick = process.argv.includes("--quick");
const NODES = numberOf("--nodes") ?? (quick ? 50 : 1_000);
const GENERATIONS = numberOf("--generations") ?? (quick ? 2 : 12);
const PATIENCE_MS = 60_000;

function numberOf(name: string): number | null {
  const at = process.argv.indexOf(name);
  return at === -1 ? null : Number(process.argv[at + 1]);
}

const say = (line: string) => process.stderr.write(`${line}\n`);

interface Delays {
  p50: Interval;
  p99: Interval;
  most: number;
}

export interface ManyNodesResult {
  nodes: number;
  generations: number;
  /** Acks that never came. */
  missing: number;
  helm: Delays;
  echo: Delays;
}

const children: ChildProcess[] = [];

async function main(): Promise<ManyNodesResult> {
  const folder = await mkdtemp(join(tmpdir(), "helm-bench-nodes-"));
  const postgres = await startEmbeddedPostgres({ stateDir: join(folder, "postgres"), port: "free" });
  const db = createDb(postgres.url, { poolSize: 4 });
  let plane: ControlPlaneProcess | null = null;
  try {
    plane = await controlPlaneProcess({
      databaseUrl: postgres.url,
      stateDir: join(folder, "state"),
      env: { HELM_LOG_LEVEL: "warn" },
      main: process.argv[process.argv.indexOf("--main") + 1],
    });
    await plane.ready();
    return await measure(db, plane);
  } catch (error) {
    if (plane) say(plane.output().slice(-4_000));
    throw error;
  } finally {
    for (const child of children) child.kill();
    await plane?.stop();
    await db.$disconnect();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(db: Db, plane: ControlPlaneProcess): Promise<ManyNodesResult> {
  const admin = await addPerson({ db } as Pick<TestControlPlane, "db">, "admin");
  const caller = plane.caller((await signIn(plane, admin.email)).bearer);
  const credentials = await makeHosts(db);
  const echo = start("./ack-server.ts");
  const port = await message<number>(echo);
  await crowd({ url: plane.url, namespace: "/nodes", credentials });
  await crowd({ url: `http://127.0.0.1:${port}`, namespace: "/echo", credentials });
  const found = { helm: [] as number[][], echo: [] as number[][] };
  let missing = 0;
  // What each node says at its arrival is recorded by then, and is not what is measured.
  await acksOf(db, (await newest(db)).generation);
  // The first of each warms up and is not counted.
  for (let turn = 0; turn <= GENERATIONS; turn += 1) {
    for (const which of turn % 2 === 0 ? (["helm", "echo"] as const) : (["echo", "helm"] as const)) {
      const delays = which === "helm" ? await generation(db, caller) : await echoOnce(db, echo);
      if (turn === 0) continue;
      found[which].push(delays);
      missing += NODES - delays.length;
    }
    say(`generation ${turn} of ${GENERATIONS}`);
  }
  return {
    nodes: NODES,
    generations: GENERATIONS,
    missing,
    helm: summary(found.helm),
    echo: summary(found.echo),
  };
}

/** Changes what nodes should do, and waits until every one of them has acked it. */
async function generation(db: Db, caller: ReturnType<ControlPlaneProcess["caller"]>): Promise<number[]> {
  const before = await caller.setting.get();
  const from = Date.now();
  await caller.setting.setHelmEnabled({ enabled: !before.helmEnabled, revision: before.revision });
  const at = await acksOf(db, (await newest(db)).generation);
  return at.map((one) => one - from);
}

async function acksOf(db: Db, generation: number): Promise<number[]> {
  const where = { kind: "routing_snapshot", generation, ok: true };
  const until = Date.now() + PATIENCE_MS;
  while ((await db.nodeAck.count({ where })) < NODES && Date.now() < until) await pause(250);
  return (await db.nodeAck.findMany({ where, select: { at: true } })).map(({ at }) => at.getTime());
}

async function echoOnce(db: Db, server: ChildProcess): Promise<number[]> {
  const { document, sha256, signature } = await newest(db);
  server.send({ document, sha256, signature });
  return message<number[]>(server);
}

function newest(db: Db) {
  return db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } });
}

async function makeHosts(db: Db): Promise<string[]> {
  const credentials = Array.from({ length: NODES }, () => randomSecret());
  await db.host.createMany({
    data: credentials.map((credential, i) => ({
      kind: "node",
      name: `simulated-${i}`,
      credentialHash: hashSecret(credential),
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [],
    })),
  });
  return credentials;
}

async function crowd(task: CrowdTask): Promise<void> {
  const from = performance.now();
  const child = start("./node-crowd.ts");
  child.send(task);
  await message(child);
  say(`${NODES} sockets at ${task.namespace} after ${((performance.now() - from) / 1000).toFixed(1)} s`);
}

function start(file: string): ChildProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ["--import", TSX] });
  children.push(child);
  return child;
}

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`a process of the measurement ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (said) => {
      child.off("exit", ended);
      resolve(said as T);
    });
  });
}

function summary(generations: number[][]): Delays {
  return {
    p50: bySegments(generations, 0.5),
    p99: bySegments(generations, 0.99),
    most: generations.flat().reduce((most, one) => Math.max(most, one), 0),
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const result = await main();
process.stdout.write(JSON.stringify(result));
