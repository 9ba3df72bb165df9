import { once as eventOf } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readableTail, startChild } from "./child.mjs";
import { faultsIn } from "./doc-paths.mjs";
import { choosePorts } from "./ports.mjs";
import { findRunning, startOf } from "./running.mjs";
import { ensureSecrets } from "./secrets.mjs";
import { digestOf, once } from "./stamp.mjs";

let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "helm-launcher-"));
  vi.spyOn(console, "log").mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe("once", () => {
  it("works again only when what it depends on has changed", async () => {
    const input = join(folder, "input.txt");
    const task = {
      title: "t",
      stamp: join(folder, "out/stamp"),
      digest: () => digestOf([input]),
      work: vi.fn(),
    };
    writeFileSync(input, "a");
    expect(await once(task)).toBe(true);
    expect(await once(task)).toBe(false);
    writeFileSync(input, "b");
    expect(await once(task)).toBe(true);
    expect(task.work).toHaveBeenCalledTimes(2);
  });

  it("leaves no stamp where the work failed", async () => {
    const stamp = join(folder, "stamp");
    const work = () => Promise.reject(new Error("no"));
    await expect(once({ title: "t", stamp, digest: () => "x", work })).rejects.toThrow("no");
    expect(existsSync(stamp)).toBe(false);
  });
});

describe("a child program", () => {
  const start = (script, onEnded) =>
    startChild({
      name: "child",
      command: process.execPath,
      args: ["-e", script],
      cwd: folder,
      env: process.env,
      logFile: join(folder, "child.log"),
      onEnded,
    });
  const said = async (child, word) => {
    await vi.waitFor(() => expect(child.tail()).toContain(word), { timeout: 15_000 });
  };
  const lives = (pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it("is asked to end, and what it left in its group goes too", async () => {
    const child = start(
      `const { spawn } = require("node:child_process");
       const grandchild = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
       process.on("SIGTERM", () => { console.log("bye"); process.exit(0); });
       setInterval(() => {}, 1000); console.log("pid " + grandchild.pid + " up");`,
    );
    await said(child, "up");
    const grandchild = Number(/pid (\d+)/.exec(child.tail())[1]);
    await child.stop();
    expect(child.tail()).toContain("bye");
    await vi.waitFor(() => expect(lives(grandchild)).toBe(false), { timeout: 5_000 });
  });

  it("is killed where it does not end in time", async () => {
    const child = start(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("up")`);
    await said(child, "up");
    await child.stop(300);
    expect(child.state.how).toBe("was ended by SIGKILL");
  });

  it("is reported when it ends by itself, and its last log is kept", async () => {
    const ended = vi.fn();
    const child = start(`console.log("first"); process.exit(3)`, ended);
    await child.gone;
    expect(ended).toHaveBeenCalledWith("child", "ended with exit code 3");
    const next = start(`console.log("second")`);
    await next.gone;
    expect(readFileSync(join(folder, "child.previous.log"), "utf8")).toContain("first");
  });
});

it("shows the end of a JSON log as lines for people, and other lines as they are", () => {
  const file = join(folder, "x.log");
  const entry = {
    level: 60,
    time: "2026-11-30T13:01:02.003Z",
    msg: "stopped",
    err: { message: "no room", code: "ENOSPC" },
  };
  writeFileSync(file, `plain\n${JSON.stringify(entry)}\n{"port":1}\n`);
  expect(readableTail(file)).toBe('plain\n13:01:02 fatal stopped: no room (ENOSPC)\n{"port":1}');
});

describe("ports", () => {
  it("names the variable for a port that is taken", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await eventOf(server, "listening");
    vi.stubEnv("HELM_PORT", String(server.address().port));
    await expect(choosePorts("default", ["controlPlane"])).rejects.toThrow(/HELM_PORT=/);
    server.close();
  });

  it("never hands out one port twice", async () => {
    const chosen = await choosePorts("free", ["controlPlane", "console", "gateway"]);
    expect(new Set(Object.values(chosen)).size).toBe(3);
  });
});

describe("a running launcher", () => {
  const record = (facts) => writeFileSync(join(folder, "running.json"), JSON.stringify(facts));

  it("is known by its pid and its start", () => {
    record({ pid: process.ppid, started: startOf(process.ppid), urls: {} });
    expect(findRunning(folder)).toMatchObject({ pid: process.ppid });
  });

  it("is not a stranger that got its pid", () => {
    record({ pid: process.ppid, started: "Thu Jan  1 00:00:00 1970", urls: {} });
    expect(findRunning(folder)).toBeNull();
  });
});

it("makes secrets once and keeps them private", () => {
  const secrets = ensureSecrets(folder);
  expect(ensureSecrets(folder)).toEqual(secrets);
  expect(secrets.setupToken.length).toBeGreaterThanOrEqual(16);
});

it("finds paths and commands in docs that do not exist", () => {
  const tops = new Set(["apps", "README.md"]);
  const text =
    "See `apps/none/here.ts`, [this](missing.md), `npm run nothing` and `.helm/logs`; `npm run dev` is fine.";
  expect(faultsIn(text, folder, tops, { dev: "x" })).toEqual([
    "the link missing.md leads nowhere",
    "the path apps/none/here.ts does not exist",
    "npm run nothing is not defined",
  ]);
});
