import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chown, mkdir, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { locateBinaries, type PostgresBinaries } from "./binaries";
import { type Cluster, ensureCluster, ROLE } from "./cluster";
import { findPostmaster, stopPostmaster } from "./postmaster";
import { commandFor, endingWithParent, findUnprivileged, type Unprivileged } from "./unprivileged";

export interface EmbeddedPostgresOptions {
  /** Holds data, password, socket and log; made if missing. */
  stateDir: string;
  port: number | "free";
  /** False for throw-away databases in tests: faster, and lost on power failure. */
  durable?: boolean;
}

export interface EmbeddedPostgres {
  /** Of the maintenance database; put another name in its path for others. */
  url: string;
  port: number;
  pid: number;
  /** True where a server left by an ended parent was taken over. */
  adopted: boolean;
  stop(): Promise<void>;
}

const READY_MS = 30_000;
// After kill -9 of a whole tree the old server's processes hold its memory for a moment.
const RETRY_MS = 5_000;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const stateDir = resolve(options.stateDir);
  const binaries = await locateBinaries();
  const who = findUnprivileged();
  const durable = options.durable ?? true;
  const cluster = await ensureCluster(stateDir, binaries, who, durable);
  const running = await waitForForeign(cluster);
  if (running) return handle(cluster, running.pid, running.port, true);

  const until = Date.now() + RETRY_MS;
  for (;;) {
    try {
      const port = options.port === "free" ? await freePort() : options.port;
      const pid = await launch(stateDir, cluster, binaries, who, port, durable);
      return handle(cluster, pid, port, false);
    } catch (error) {
      if (Date.now() > until) throw error;
      await pause(200);
    }
  }
}

function handle(cluster: Cluster, pid: number, port: number, adopted: boolean): EmbeddedPostgres {
  return { url: urlOf(cluster.password, port), port, pid, adopted, stop: () => stopPostmaster(pid) };
}

function urlOf(password: string, port: number): string {
  return `postgresql://${ROLE}:${password}@127.0.0.1:${port}/postgres`;
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

// A server that is still starting or stopping under another parent becomes ready or goes away.
async function waitForForeign({ dataDir, password }: Cluster) {
  const until = Date.now() + READY_MS;
  for (;;) {
    const found = await findPostmaster(dataDir);
    // Its file says "ready" also in the moment in which it is being killed: only an answer counts.
    if (!found || (found.ready && (await accepts(urlOf(password, found.port))))) return found;
    if (Date.now() > until)
      throw new Error(`The PostgreSQL with pid ${found.pid} on ${dataDir} does not become ready.`);
    await pause(100);
  }
}

async function launch(
  stateDir: string,
  cluster: Cluster,
  binaries: PostgresBinaries,
  who: Unprivileged,
  port: number,
  durable: boolean,
): Promise<number> {
  const socketDir = socketDirectory(stateDir);
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  if (who.uid !== undefined) await chown(socketDir, who.uid, who.gid ?? who.uid);
  // Nobody of ours runs on this directory (checked above), so a pid file here is from a crash.
  await rm(join(cluster.dataDir, "postmaster.pid"), { force: true });

  const settings = [
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${socketDir}`,
    "password_encryption=scram-sha-256",
    "timezone=UTC",
    "log_timezone=UTC",
    "max_connections=100",
    ...(durable ? [] : ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]),
  ].flatMap((setting) => ["-c", setting]);
  const server = endingWithParent(binaries.postgres, [
    "-D",
    cluster.dataDir,
    "-p",
    String(port),
    ...settings,
  ]);
  const [command, args] = commandFor(who, ...server);

  const logFile = join(stateDir, "server.log");
  const log = await open(logFile, "a", 0o600);
  const from = (await log.stat()).size;
  // Its own session: Ctrl-C in a terminal must not end the database before its clients.
  const child = spawn(command, args, {
    uid: who.uid,
    gid: who.gid,
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  try {
    await waitUntilReady(child, cluster.dataDir);
  } catch (error) {
    if (child.pid) await stopPostmaster(child.pid, 1_000);
    const tail = (await readFile(logFile, "utf8")).slice(from).trim().slice(-2_000);
    throw new Error(
      `PostgreSQL did not start: ${(error as Error).message}. Its log (${logFile}) says:\n${tail}`,
      { cause: error },
    );
  } finally {
    await log.close();
  }
  child.unref();
  return child.pid as number;
}

function waitUntilReady(child: ChildProcess, dataDir: string): Promise<void> {
  return new Promise((resolvePromise, reject) => {
    let settled = false;
    const settle = (error?: Error) => {
      settled = true;
      error ? reject(error) : resolvePromise();
    };
    child.once("error", settle);
    child.once("exit", (code, signal) => settle(new Error(`the server ended with ${signal ?? code}`)));
    const until = Date.now() + READY_MS;
    const look = async () => {
      if (settled) return;
      const found = await findPostmaster(dataDir);
      if (found?.ready && found.pid === child.pid) return settle();
      if (Date.now() > until) return settle(new Error(`it was not ready after ${READY_MS / 1000} s`));
      setTimeout(look, 50);
    };
    void look();
  });
}

// A socket's path may have 103 bytes on macOS; deep checkouts get a short one.
function socketDirectory(stateDir: string): string {
  const inside = join(stateDir, "socket");
  if (inside.length <= 80) return inside;
  const digest = createHash("sha256").update(stateDir).digest("hex").slice(0, 16);
  return join(tmpdir(), `helm-pg-${digest}`);
}

function freePort(): Promise<number> {
  return new Promise((resolvePromise, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolvePromise(address.port) : reject(new Error("no port")),
      );
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolvePromise) => setTimeout(resolvePromise, ms));
}
