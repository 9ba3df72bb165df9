import { spawn } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import type { DeviceProcess, DeviceTelemetry } from "@helm/contracts";
import { acquireEngineStart, createLogger, spawnGroup } from "@helm/host";
import { expect, it, onTestFinished } from "vitest";
import { JobAftermath } from "./job-aftermath";
import { findRemains } from "./job-remains";
import { calibrationJob, freeDevice, scriptedPython, TestControlPlane, workerOptions } from "./testing";
import { work } from "./worker";

const GIB = 1024 ** 3;
const within = { timeout: 15_000 };

/** A worker that has started, whose device tells what the test wants: simulated, no GPU is asked. */
async function working(device: DeviceTelemetry, change: (options: Options) => void = () => {}) {
  const controlPlane = new TestControlPlane();
  await controlPlane.start();
  onTestFinished(() => controlPlane.stop());
  const python = await scriptedPython("result();", device);
  const options = await workerOptions(controlPlane, python);
  change(options);
  controlPlane.jobs = [calibrationJob()];
  const start = () => {
    const running = work(options);
    onTestFinished(async () => {
      options.stop();
      await running;
    });
  };
  return { controlPlane, python, options, start };
}
type Options = Awaited<ReturnType<typeof workerOptions>>;

const short = (free: number): DeviceTelemetry => ({
  ...freeDevice,
  memory: { total_bytes: 64 * GIB, free_bytes: free, used_bytes: 64 * GIB - free },
});

const gpu = (processes: DeviceProcess[]): DeviceTelemetry => ({
  ...freeDevice,
  kind: "nvidia",
  name: "NVIDIA H200",
  uuid: "GPU-11",
  utilisation: 0,
  processes,
  memory: { total_bytes: 140 * GIB, free_bytes: 100 * GIB, used_bytes: 40 * GIB },
});

const stranger: DeviceProcess = {
  pid: 4711,
  name: "python",
  used_bytes: 40 * GIB,
  seen: true,
  group: 4711,
  ancestors: [1],
};

it("takes no calibration while memory is short, says the numbers, and takes it once there is enough", async () => {
  const { controlPlane, python, options, start } = await working(short(GIB / 2));
  start();
  await expect.poll(() => controlPlane.claims.length, within).toBeGreaterThan(1);
  expect(controlPlane.claims[0]).toMatchObject({
    rooms: [],
    waiting: expect.stringMatching(/needs 1\.0 GiB of this host; 0\.5 GiB are free/),
  });
  expect(controlPlane.finished).toEqual([]);
  await python.setDevice(short(2 * GIB));
  await expect.poll(() => controlPlane.finished, within).toMatchObject([{ outcome: "fitted" }]);
  expect(controlPlane.claims.at(-1)).toMatchObject({ rooms: ["beside", "drain"] });
  await expect.poll(() => readdir(options.config.leaseDir), within).toEqual([]);
});

it("offers a drained run alone where an engine of a node holds what is needed", async () => {
  const { controlPlane, options, start } = await working(short(1.5 * GIB));
  const engine = spawn("sleep", ["60"], { detached: true });
  onTestFinished(() => void engine.kill("SIGKILL"));
  const lease = await acquireEngineStart({
    directory: options.config.leaseDir,
    device: "cpu",
    purpose: "engine of pilot and target",
    signal: new AbortController().signal,
    onWaiting: () => {},
  });
  await lease.noteProcess(engine.pid ?? 0);
  start();
  await expect.poll(() => controlPlane.claims.at(-1)?.waiting, within).toContain("starts an engine");
  await lease.settle({ footprintBytes: GIB, budgetBytes: 2 * GIB });
  await expect.poll(() => controlPlane.claims.at(-1)?.rooms, within).toEqual(["drain"]);
  expect(controlPlane.claims.at(-1)?.waiting).toContain("1.0 GiB are promised to an engine");
  expect(controlPlane.finished).toEqual([]);
  await lease.release();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
});

it("takes nothing for a GPU on which a foreign process computes, or of which nothing is told", async () => {
  const { controlPlane, python, start } = await working(gpu([stranger]));
  start();
  await expect.poll(() => controlPlane.claims.length, within).toBeGreaterThan(0);
  expect(controlPlane.claims[0]).toMatchObject({ rooms: [], waiting: expect.stringContaining("4711") });
  await python.setDevice({ ...gpu([]), processes: null, problems: ["NVML error 4: no permission"] });
  await expect.poll(() => controlPlane.claims.at(-1)?.waiting, within).toContain("no permission");
  await python.setDevice("no telemetry at all");
  await expect
    .poll(() => controlPlane.claims.at(-1)?.waiting, within)
    .toContain("cannot be shown to be free");
  expect(controlPlane.claims.every((claim) => (claim.rooms as string[]).length === 0)).toBe(true);
  expect(controlPlane.finished).toEqual([]);
});

it("still inspects while it has no room for a calibration", async () => {
  const { controlPlane, start } = await working(short(0));
  controlPlane.jobs = [
    { kind: "inspection", id: "i", attempt: "a", attempt_number: 1, lease_ms: 1500, model: "nowhere" },
  ];
  start();
  await expect.poll(() => controlPlane.finished, within).toMatchObject([{ outcome: "failed" }]);
});

it("finds what a job's group still holds, by its processes and by the driver's list", async () => {
  const child = await spawnGroup("sh", ["-c", "sleep 60 & echo; wait"]);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const held = { ...stranger, pid: child.pid, group: child.pid, used_bytes: 3 * GIB };
  const ask = async () => gpu([held, stranger]);
  const found = await findRemains({ job: child.pid, ask, patienceMs: 0 });
  expect(found?.pids).toHaveLength(2);
  expect(found?.bytes).toBe(3 * GIB);
  await child.end(10_000);
  expect(await findRemains({ job: child.pid, ask: null })).toBeNull();
  // A context that outlived its process: the driver still counts it.
  const gone = { ...held, seen: false, group: null, ancestors: [] };
  expect(await findRemains({ job: child.pid, ask: async () => gpu([gone]), patienceMs: 0 })).toEqual({
    pids: [child.pid],
    bytes: 3 * GIB,
  });
  expect(await findRemains({ job: child.pid, ask: async () => gpu([stranger]) })).toBeNull();
});

it("keeps the lease of a job that left something behind, and gives it back when it is gone", async () => {
  let told = gpu([{ ...stranger, pid: 77, group: null, seen: false }]);
  let released = 0;
  const lease = { device: "GPU-11", noteJob: async () => {}, release: async () => void released++ };
  const aftermath = new JobAftermath(
    { device: "GPU-11", ask: async () => told, patienceMs: 0 },
    createLogger("test", "silent"),
  );
  expect(await aftermath.recheck()).toBeNull();
  await aftermath.settle(77, lease);
  expect(released).toBe(0);
  expect(await aftermath.recheck()).toMatch(/process 77 behind, holding 40960 MiB of GPU-11/);
  told = gpu([]);
  expect(await aftermath.recheck()).toBeNull();
  expect(released).toBe(1);
  expect(await aftermath.recheck()).toBeNull();
});

it("keeps the lease where nobody can tell what a job left, and says why until somebody can", async () => {
  let told: DeviceTelemetry | null = null;
  let released = 0;
  const lease = { device: "GPU-11", noteJob: async () => {}, release: async () => void released++ };
  const ask = async () => {
    if (told === null) throw new Error("the driver gave no answer");
    return told;
  };
  const aftermath = new JobAftermath(
    { device: "GPU-11", ask, patienceMs: 0 },
    createLogger("test", "silent"),
  );
  await aftermath.settle(77, lease);
  expect(released).toBe(0);
  expect(await aftermath.recheck()).toMatch(/GPU-11 cannot be told.*the driver gave no answer/);
  told = gpu([]);
  expect(await aftermath.recheck()).toBeNull();
  expect(released).toBe(1);
});

it("waits, and says why, while the lease folder cannot be used", async () => {
  const { controlPlane, options, start } = await working(short(2 * GIB), ({ config }) => {
    config.leaseDir = `${config.stateDir}-leases`;
  });
  await writeFile(options.config.leaseDir, "a file where a folder should be");
  onTestFinished(() => rm(options.config.leaseDir, { recursive: true, force: true }));
  start();
  await expect.poll(() => controlPlane.claims.at(-1)?.waiting, within).toMatch(/cannot be taken: EEXIST/);
  expect(controlPlane.finished).toEqual([]);
  await rm(options.config.leaseDir);
  await expect.poll(() => controlPlane.finished, within).toMatchObject([{ outcome: "fitted" }]);
});
