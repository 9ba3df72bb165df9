import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./index";
import { isAlive } from "./postmaster";

const SUPERVISOR = fileURLToPath(new URL("./supervisor.ts", import.meta.url));

async function ask<T>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

// Each case starts a real server, some twice: slow on a loaded machine.
describe("embedded Postgres", { timeout: 60_000 }, () => {
  let stateDir: string;
  const started: EmbeddedPostgres[] = [];
  const start = async () => {
    const server = await startEmbeddedPostgres({ stateDir, port: "free" });
    started.push(server);
    return server;
  };

  // One cluster for all cases (making one is the slow part); each case starts its own server on it.
  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), "helm-pg-test-"));
  });

  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop();
  });

  afterAll(() => rm(stateDir, { recursive: true, force: true }));

  it("keeps its data across a stop and a start", async () => {
    const first = await start();
    await ask(first.url, "CREATE TABLE kept AS SELECT 7 AS n");
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, "SELECT n FROM kept")).toEqual([{ n: 7 }]);
  });

  it("asks for its password, keeps it private and listens on loopback only", async () => {
    const server = await start();
    const wrong = new URL(server.url);
    wrong.password = "guess";
    await expect(ask(wrong.href, "SELECT 1")).rejects.toThrow(/password authentication failed/);
    expect((await stat(join(stateDir, "password"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(stateDir, "data"))).mode & 0o077).toBe(0);
    expect(await ask(server.url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
    expect(await ask(server.url, "SHOW password_encryption")).toEqual([
      { password_encryption: "scram-sha-256" },
    ]);
  });

  it("takes over a server that a killed parent left", async () => {
    const first = await start();
    const second = await start();
    expect(second).toMatchObject({ adopted: true, pid: first.pid, port: first.port, url: first.url });
    expect(await ask(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("starts again right after kill -9 of the server", async () => {
    const first = await start();
    await ask(first.url, "CREATE TABLE after_kill AS SELECT 7 AS n");
    process.kill(first.pid, "SIGKILL");
    const second = await start();
    expect(second.pid).not.toBe(first.pid);
    expect(await ask(second.url, "SELECT n FROM after_kill")).toEqual([{ n: 7 }]);
  });

  it("does not take a stranger's process for its server", async () => {
    const first = await start();
    await first.stop();
    const stranger = [process.pid, join(stateDir, "data"), 0, first.port, "", "127.0.0.1", "0 0", "ready   "];
    await writeFile(join(stateDir, "data", "postmaster.pid"), stranger.join("\n"));
    const second = await start();
    expect(second.adopted).toBe(false);
  });

  it("ignores a half-made cluster and clears it away", async () => {
    await writeFile(join(stateDir, "data.new-1234"), "");
    await start();
    expect((await readdir(stateDir)).filter((name) => name.startsWith("data.new"))).toEqual([]);
  });

  it("says what is wrong when the data's password is gone", async () => {
    const first = await start();
    await first.stop();
    const password = join(stateDir, "password");
    await rename(password, `${password}.away`);
    await expect(start()).rejects.toThrow(/password is missing/);
    await rename(`${password}.away`, password);
  });

  it("ends with its supervisor's parent", async () => {
    // The shell stands for a launcher that is killed; the supervisor must notice and stop the server.
    const tsx = fileURLToPath(import.meta.resolve("tsx/cli"));
    const script = `HELM_PARENT_PID=$$ "${process.execPath}" "${tsx}" "${SUPERVISOR}" "${stateDir}" helm & wait`;
    const shell = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(shell.stdout, "data")) as [Buffer];
    const { port, pid } = JSON.parse(line.toString()) as { port: number; pid: number };
    const password = (await readFile(join(stateDir, "password"), "utf8")).trim();
    const url = `postgresql://helm:${password}@127.0.0.1:${port}/helm`;
    expect(line.toString()).not.toContain(password);
    expect(await ask(url, "SELECT current_database() AS name")).toEqual([{ name: "helm" }]);
    shell.kill("SIGKILL");
    for (let i = 0; i < 100 && isAlive(pid); i += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isAlive(pid)).toBe(false);
  });
});
