import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { acquireDeviceLease } from "./device-lease";
import { acquireEngineStart, type EngineLease } from "./engine-lease";
import { readDeviceUse } from "./lease-file";
import { processStart } from "./process-identity";
import { temporaryFolder } from "./testing";

const GIB = 1024 ** 3;

function sleeper(seconds = "60") {
  const child = spawn("sleep", [seconds], { detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child.pid ?? 0;
}

function start(directory: string, signal = new AbortController().signal, waited: string[] = []) {
  return acquireEngineStart({
    directory,
    device: "cpu",
    purpose: "engine",
    signal,
    onWaiting: (holder) => waited.push(holder.purpose),
  });
}

async function settled(directory: string, pid: number): Promise<EngineLease> {
  const lease = await start(directory);
  await lease.noteProcess(pid);
  await lease.settle({ budgetBytes: 2 * GIB, footprintBytes: GIB });
  return lease;
}

it("lets the second engine start once the first has been measured, and says whom it waits for", async () => {
  const directory = await temporaryFolder();
  const first = await start(directory);
  const waited: string[] = [];
  let second: EngineLease | null = null;
  const coming = start(directory, undefined, waited).then((lease) => (second = lease));
  await expect.poll(() => waited).toEqual(["engine"]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(second).toBeNull();
  await first.noteProcess(sleeper());
  await first.settle({ budgetBytes: 2 * GIB, footprintBytes: GIB });
  await coming;
  expect(waited).toHaveLength(1);
  const use = await readDeviceUse({ directory, device: "cpu" });
  expect(use.starting).not.toBeNull();
  expect(use.engines).toMatchObject([{ budget_bytes: 2 * GIB, footprint_bytes: GIB }]);
});

it("stops to wait when it is told to, and leaves nothing", async () => {
  const directory = await temporaryFolder();
  const first = await start(directory);
  const stop = new AbortController();
  const waiting = start(directory, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow();
  await first.release();
  expect(await readdir(directory)).toEqual([]);
});

it("has engines and one job side by side", async () => {
  const directory = await temporaryFolder();
  const pid = sleeper();
  const engine = await settled(directory, pid);
  const job = await acquireDeviceLease({ directory, device: "cpu", purpose: "calibration" });
  expect(job.ok).toBe(true);
  expect((await acquireDeviceLease({ directory, device: "cpu", purpose: "bench" })).ok).toBe(false);
  const other = await settled(directory, sleeper());
  expect((await readDeviceUse({ directory, device: "cpu" })).engines).toHaveLength(2);
  await engine.release();
  await other.release();
  expect(await readDeviceUse({ directory, device: "cpu" })).toMatchObject({
    engines: [],
    exclusive: { purpose: "calibration" },
  });
  if (job.ok) await job.lease.release();
  expect(await readdir(directory)).toEqual([]);
});

it("forgets an engine whose process is gone, and tells apart a process that got its pid", async () => {
  const directory = await temporaryFolder();
  const child = spawn("sleep", ["60"]);
  await settled(directory, child.pid ?? 0);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  expect((await readDeviceUse({ directory, device: "cpu" })).engines).toEqual([]);
  const stranger = { id: "x", pid: process.pid, started: "1@gone", node: { pid: 1, started: "" } };
  const entry = { ...stranger, purpose: "", since: "", budget_bytes: 0, footprint_bytes: 0 };
  await writeFile(join(directory, "cpu.lease"), JSON.stringify({ engines: [entry] }));
  expect((await readDeviceUse({ directory, device: "cpu" })).engines).toEqual([]);
});

it("ends what a killed node left: the engine it was starting, and the one that served for it", async () => {
  const directory = await temporaryFolder();
  const [begun, served] = [sleeper(), sleeper()];
  const gone = { pid: 1, started: "0@gone" };
  const entry = { id: "b", node: gone, purpose: "engine", since: "", budget_bytes: 1, footprint_bytes: 1 };
  const use = {
    starting: {
      ...gone,
      id: "a",
      purpose: "engine",
      since: "",
      job: { pid: begun, started: processStart(begun) },
    },
    engines: [{ ...entry, pid: served, started: processStart(served) }],
  };
  await writeFile(join(directory, "cpu.lease"), JSON.stringify(use));
  const lease = await start(directory);
  expect([processStart(begun), processStart(served)]).toEqual([null, null]);
  expect((await readDeviceUse({ directory, device: "cpu" })).engines).toEqual([]);
  await lease.release();
});

it("is held by one of several processes at a time, some of which are killed", {
  timeout: 120_000,
}, async () => {
  const directory = await temporaryFolder();
  const journal = join(await temporaryFolder(), "journal");
  await writeFile(journal, "");
  const program = new URL("./testing-start-program.ts", import.meta.url).pathname;
  const run = (mode: string) =>
    new Promise<number | null>((resolve) => {
      const child = spawn(process.execPath, ["--import", "tsx", program, directory, journal, mode], {
        stdio: "inherit",
      });
      child.once("exit", (code) => resolve(code));
    });
  const ends = await Promise.all([run("settle"), run("die"), run("settle"), run("die"), run("settle")]);
  expect(ends).toEqual([0, null, 0, null, 0]);
  const lines = (await readFile(journal, "utf8")).trim().split("\n");
  // Whoever begins is alone until it has ended, or was killed: then its line says so.
  for (let i = 0; i < lines.length; i += 2) {
    const [what, who] = (lines[i] ?? "").split(" ");
    expect(what).toBe("begin");
    expect(["end", "dies"].map((word) => `${word} ${who}`)).toContain(lines[i + 1]);
  }
  expect(lines).toHaveLength(10);
});
