// A process of its own: many consoles' sockets, so that what it costs to receive is not counted as the server's.
import type { CalibrationUpdate } from "@helm/contracts";
import { io, type Socket } from "socket.io-client";

export interface FollowersTask {
  /** Where sockets go, by turns. */
  urls: string[];
  namespace: string;
  token: string | null;
  room: string;
  sockets: number;
}

export type FollowersSaid =
  | { kind: "ready" }
  | { kind: "delays"; delays: number[][]; heard: number[]; disorder: number; gaps: number; most: number };

const AT_ONCE = 20;
const STAMP = /^t=(\d+) n=(\d+)/;

interface Follower {
  socket: Socket;
  /** Delays in ms since the last collection. */
  delays: number[];
  lastLine: number;
  lastSeq: number;
  heard: number;
  disorder: number;
  gaps: number;
  at: number[];
}

const followers: Follower[] = [];

function take(follower: Follower, update: CalibrationUpdate): void {
  const now = process.hrtime.bigint();
  if (update.last_seq < follower.lastSeq) follower.disorder += 1;
  // A page would read the rows here: it has missed something.
  if ((update.after_seq ?? 0) > follower.lastSeq && follower.lastSeq > 0) follower.gaps += 1;
  follower.lastSeq = Math.max(follower.lastSeq, update.last_seq);
  follower.at.push(Date.now());
  for (const line of update.lines) {
    const stamp = STAMP.exec(line.message);
    if (!stamp) continue;
    const n = Number(stamp[2]);
    if (n <= follower.lastLine) follower.disorder += 1;
    else if (n !== follower.lastLine + 1 && follower.lastLine > 0) follower.gaps += 1;
    follower.lastLine = n;
    follower.heard += 1;
    follower.delays.push(Number(now - BigInt(stamp[1] ?? "0")) / 1e6);
  }
}

async function open(task: FollowersTask): Promise<void> {
  // A few at a time, as people come: what is measured is following, not arriving.
  for (let first = 0; first < task.sockets; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, task.sockets - first) }, (_, i) =>
      openOne(task, task.urls[(first + i) % task.urls.length] ?? ""),
    );
    await Promise.all(some);
  }
}

async function openOne(task: FollowersTask, url: string): Promise<void> {
  const socket = io(`${url}${task.namespace}`, {
    transports: ["websocket"],
    addTrailingSlash: false,
    forceNew: true,
    auth: task.token ? { token: task.token } : {},
    timeout: 60_000,
  });
  const follower: Follower = {
    socket,
    delays: [],
    lastLine: 0,
    lastSeq: 0,
    heard: 0,
    disorder: 0,
    gaps: 0,
    at: [],
  };
  followers.push(follower);
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  // From here on a lost connection is a fault: nothing may be missed.
  socket.on("disconnect", (why) => {
    console.error(`a console was disconnected: ${why}`);
    process.exit(1);
  });
  socket.on("calibration:update", (update: CalibrationUpdate) => take(follower, update));
  const ack = await socket.timeout(60_000).emitWithAck("follow", { calibration: task.room });
  if (!ack.ok) throw new Error(`follow: ${JSON.stringify(ack)}`);
}

/** Most updates that one console got in any second. */
function busiestSecond(at: number[]): number {
  let most = 0;
  let first = 0;
  for (let i = 0; i < at.length; i += 1) {
    while ((at[i] ?? 0) - (at[first] ?? 0) >= 1_000) first += 1;
    most = Math.max(most, i - first + 1);
  }
  return most;
}

process.on("message", (message: FollowersTask | "collect") => {
  if (message !== "collect") {
    open(message).then(
      () => process.send?.({ kind: "ready" } satisfies FollowersSaid),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
    return;
  }
  process.send?.({
    kind: "delays",
    delays: followers.map((one) => one.delays.splice(0)),
    heard: followers.map((one) => one.heard),
    disorder: followers.reduce((sum, one) => sum + one.disorder, 0),
    gaps: followers.reduce((sum, one) => sum + one.gaps, 0),
    most: Math.max(...followers.map((one) => busiestSecond(one.at))),
  } satisfies FollowersSaid);
});
