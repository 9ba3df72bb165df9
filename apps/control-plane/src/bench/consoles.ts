import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CalibrationUpdate } from "@helm/contracts";
import { io, type Socket } from "socket.io-client";
import { bySegments, type Interval } from "./figures";
import type { FollowersSaid, FollowersTask } from "./followers";

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const say = (line: string) => process.stderr.write(`${line}\n`);
const SEGMENT_MS = 4_000;
/** Ten times what the recorded run of the bundled pair said on average (188 events in 184 s). */
const EVERY_MS = 100;

export interface ConsolesResult {
  consoles: number;
  segments: number;
  events: number;
  eventsPerSecond: number;
  lost: number;
  disorder: number;
  gaps: number;
  /** Most updates that one console got in any second. */
  busiestSecond: number;
  helm: { p50: Interval; p99: Interval; most: number };
  echo: { p50: Interval; p99: Interval; most: number };
}

export interface ConsolesTask {
  urls: string[];
  token: string;
  consoles: number;
  segments: number;
  run: { id: string; attempt: string };
  worker: { url: string; credential: string };
}

/** One run, many consoles; between its segments the same consoles' number on a bare server hear the same lines. */
export async function measureConsoles(task: ConsolesTask): Promise<ConsolesResult> {
  const children: ChildProcess[] = [];
  const start = (file: string) => {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ["--import", TSX] });
    children.push(child);
    return child;
  };
  try {
    const port = await message<number>(start("./echo-server.ts"));
    const echoUrl = `http://127.0.0.1:${port}`;
    const [helm, echo] = [start("./followers.ts"), start("./followers.ts")];
    const follow = async (child: ChildProcess, given: FollowersTask) => {
      const from = performance.now();
      child.send(given);
      await message(child);
      say(
        `${given.sockets} sockets at ${given.namespace} after ${((performance.now() - from) / 1000).toFixed(1)} s`,
      );
    };
    const room = task.run.id;
    await follow(helm, {
      urls: task.urls,
      namespace: "/console",
      token: task.token,
      room,
      sockets: task.consoles,
    });
    await follow(echo, { urls: [echoUrl], namespace: "/echo", token: null, room, sockets: task.consoles });
    const worker = await connected(`${task.worker.url}/workers`, { credential: task.worker.credential });
    const speaker = await connected(`${echoUrl}/echo`, {});
    const delays = { helm: [] as number[][], echo: [] as number[][] };
    const said = { helm: 0, echo: 0 };
    const last: Partial<Record<"helm" | "echo", Delays>> = {};
    // The first of each warms up and is not counted.
    for (let segment = 0; segment <= task.segments; segment += 1) {
      for (const which of segment % 2 === 0 ? (["helm", "echo"] as const) : (["echo", "helm"] as const)) {
        const until = Date.now() + SEGMENT_MS;
        while (Date.now() < until) {
          const from = Date.now();
          said[which] += 1;
          const text = `t=${process.hrtime.bigint()} n=${said[which]} half of the corpus captured`;
          if (which === "helm") await sayToHelm(worker, task.run, said.helm, text);
          else await speaker.timeout(10_000).emitWithAck("say", room, update(room, said.echo, text));
          await pause(EVERY_MS - (Date.now() - from));
        }
        await pause(400);
        const child = which === "helm" ? helm : echo;
        child.send("collect");
        const collected = await message<Delays>(child);
        say(`segment ${segment} of ${task.segments}: ${which}`);
        last[which] = collected;
        if (segment > 0) delays[which].push(collected.delays.flat());
      }
    }
    worker.disconnect();
    speaker.disconnect();
    const found = last.helm;
    if (!found) throw new Error("nothing was measured");
    return {
      consoles: task.consoles,
      segments: task.segments,
      events: said.helm,
      eventsPerSecond: 1000 / EVERY_MS,
      lost: found.heard.reduce((sum, heard) => sum + (said.helm - heard), 0),
      disorder: found.disorder,
      gaps: found.gaps,
      busiestSecond: found.most,
      helm: summary(delays.helm),
      echo: summary(delays.echo),
    };
  } finally {
    for (const child of children) child.kill();
  }
}

type Delays = Extract<FollowersSaid, { kind: "delays" }>;

function summary(segments: number[][]) {
  return {
    p50: bySegments(segments, 0.5),
    p99: bySegments(segments, 0.99),
    most: segments.flat().reduce((most, one) => Math.max(most, one), 0),
  };
}

async function sayToHelm(
  worker: Socket,
  run: { id: string; attempt: string },
  seq: number,
  message: string,
): Promise<void> {
  const event = { v: 1, at: new Date().toISOString(), type: "log", level: "info", message };
  const ack = await worker
    .timeout(30_000)
    .emitWithAck("calibration:event", { job: run.id, attempt: run.attempt, events: [{ seq, event }] });
  if (!ack.ok) throw new Error(`the events were refused: ${JSON.stringify(ack)}`);
}

function update(calibration: string, seq: number, message: string): CalibrationUpdate {
  return {
    calibration,
    attempt: 1,
    last_seq: seq,
    after_seq: seq - 1,
    state: "RUNNING",
    stage: null,
    percent: 0,
    rate: null,
    unit: null,
    lines: [{ seq, at: new Date().toISOString(), level: "info", message }],
  };
}

async function connected(url: string, auth: object): Promise<Socket> {
  const socket = io(url, { transports: ["websocket"], addTrailingSlash: false, forceNew: true, auth });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("connect_error", reject);
  });
  return socket;
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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
