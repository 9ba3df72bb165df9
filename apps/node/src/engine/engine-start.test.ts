import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { acquireDeviceLease, processStart, readDeviceUse } from "@helm/host";
import pino from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { type EngineDouble, engineDouble } from "../testing/engine-double";
import { type EngineSettings, EngineSupervisor } from "./engine-supervisor";
import { promisedBeside } from "./promised-beside";
import type { ServingEngine } from "./serving-engine";

const within = { timeout: 20_000 };

async function host() {
  const folder = await mkdtemp(join(tmpdir(), "helm-start-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const place = { directory: join(folder, "leases"), device: "cpu" };
  return {
    folder,
    place,
    use: () => readDeviceUse(place),
    journal: async () => (await readFile(join(folder, "journal"), "utf8").catch(() => "")).trim().split("\n"),
    supervise: async (name: string, double: EngineDouble, changes: Partial<EngineSettings> = {}) => {
      const seen: { engine: ServingEngine | null; why: (string | null)[] } = { engine: null, why: [] };
      const settings = { ...(await engineDouble(join(folder, name), double)), ...changes };
      const supervisor: EngineSupervisor = new EngineSupervisor(
        settings,
        pino({ level: "silent" }),
        (engine) => {
          seen.engine = engine;
        },
        () => seen.why.push(supervisor.whyNot),
      );
      onTestFinished(() => supervisor.stop());
      supervisor.start();
      return { supervisor, seen };
    },
  };
}

it("starts engines of one device one after another, the second only when the first was measured", async () => {
  const { supervise, journal, use, place } = await host();
  const nodes = await Promise.all(["a", "b", "c"].map((name) => supervise(name, { loadsFor: 300 })));
  for (const { seen } of nodes) await expect.poll(() => seen.engine, within).not.toBeNull();
  const lines = (await journal()).map((line) => line.split(" "));
  expect(lines.map(([what]) => what)).toEqual(["spawn", "canary", "spawn", "canary", "spawn", "canary"]);
  for (const at of [0, 2, 4]) expect(lines[at]?.[1]).toBe(lines[at + 1]?.[1]);
  const why = nodes.flatMap(({ seen }) => seen.why);
  expect(why.filter((one) => one?.includes("waits until process"))).not.toEqual([]);
  for (const { supervisor } of nodes) expect(supervisor.whyNot).toBeNull();
  expect((await use()).engines).toHaveLength(3);
  for (const { supervisor } of nodes) await supervisor.stop();
  expect(await readdir(place.directory)).toEqual([]);
});

it("registers what the engine measured after its first answer, and what its budgets still leave it", async () => {
  const { supervise, use, place } = await host();
  const calibration = await acquireDeviceLease({ ...place, purpose: "calibration" });
  const { supervisor, seen } = await supervise("a", { resident: [100, 500] });
  await expect.poll(() => seen.engine, within).not.toBeNull();
  expect(seen.engine?.memory.process_resident_bytes).toBe(500);
  expect(await use()).toMatchObject({
    exclusive: { purpose: "calibration" },
    engines: [
      { pid: supervisor.pid, footprint_bytes: 500, budget_bytes: 500 + 700, node: { pid: process.pid } },
    ],
  });
  await supervisor.stop();
  expect(await use()).toMatchObject({ exclusive: { purpose: "calibration" }, engines: [] });
  if (calibration.ok) await calibration.lease.release();
});

it("tells an engine what those beside it, a calibration too, were promised and have not taken yet", async () => {
  const { supervise, use, place } = await host();
  const first = await supervise("a", { resident: [100, 500] });
  await expect.poll(() => first.seen.engine, within).not.toBeNull();
  const [beside] = (await use()).engines;
  const python = { python: "/nowhere", source: "" };
  // No guard can be asked here: what the engine held after its load stands.
  const promisedTo = () => promisedBeside(python, place, "cpu", pino({ level: "silent" }));
  expect(await promisedTo()).toBe(700);
  const calibration = await acquireDeviceLease({ ...place, purpose: "calibration", budgetBytes: 5_000 });
  expect(await promisedTo()).toBe(700);
  if (calibration.ok) await calibration.lease.noteJob(process.pid);
  expect(await promisedTo()).toBe(5_700);
  const second = await supervise("b", {}, { promisedBeside: promisedTo });
  await expect.poll(() => second.seen.engine, within).not.toBeNull();
  const told = await readFile(`/proc/${second.supervisor.pid}/cmdline`, "utf8");
  expect(told.split("\0").join(" ")).toContain("--promised-bytes 5700");
  expect(beside?.pid).toBe(first.supervisor.pid);
});

it("lets the next one start when one hangs, and says how the one that hung ended", async () => {
  const { supervise } = await host();
  const hung = await supervise("a", { hangs: true }, { startMs: 1_000 });
  await expect.poll(() => hung.supervisor.pid, within).not.toBeNull();
  const next = await supervise("b", {});
  await expect.poll(() => next.seen.engine, { timeout: 30_000 }).not.toBeNull();
  await expect.poll(() => hung.seen.why.join(), within).toContain("did not answer within 1000 ms");
}, 60_000);

it("ends a start that hangs though the clock is set back while it waits", async () => {
  const { supervise } = await host();
  onTestFinished(() => void vi.useRealTimers());
  const hung = await supervise("a", { hangs: true }, { startMs: 500 });
  await expect.poll(() => hung.supervisor.pid, within).not.toBeNull();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 5 * 3_600_000 });
  await expect.poll(() => hung.seen.why.join(), within).toContain("did not answer within 500 ms");
}, 60_000);

it("says why an engine could not start in the engine's own words", async () => {
  const { supervise } = await host();
  const message = "target does not fit: it needs 9 bytes, 4 are available and 5 are missing.";
  const { seen } = await supervise("a", { fails: { code: "MEMORY_SHORT", message } });
  await expect.poll(() => seen.why.join(), within).toContain(`MEMORY_SHORT: ${message}`);
  expect(seen.engine).toBeNull();
});

it("takes over from a node that was killed while its engine started, and ends that engine first", async () => {
  const { folder, supervise, journal, use } = await host();
  const program = fileURLToPath(new URL("../testing/start-node-program.ts", import.meta.url));
  const node = spawn(process.execPath, ["--import", "tsx", program, join(folder, "a")], { stdio: "inherit" });
  onTestFinished(() => void node.kill("SIGKILL"));
  await expect.poll(async () => (await use()).starting?.job?.pid, within).toBeDefined();
  await expect.poll(journal, within).toEqual([expect.stringMatching(/^spawn /)]);
  const left = (await use()).starting?.job?.pid ?? 0;
  const next = await supervise("b", {});
  await expect.poll(() => next.seen.why.join(), within).toContain(`waits until process ${node.pid}`);
  node.kill("SIGKILL");
  await expect.poll(() => next.seen.engine, within).not.toBeNull();
  expect(processStart(left)).toBeNull();
  expect((await use()).engines).toMatchObject([{ pid: next.supervisor.pid }]);
}, 60_000);

it("gives its turn up when it is told to stop while it waits", async () => {
  const { supervise, use } = await host();
  const first = await supervise("a", { hangs: true });
  await expect.poll(() => first.supervisor.pid, within).not.toBeNull();
  const second = await supervise("b", {});
  await expect.poll(() => second.supervisor.whyNot, within).toContain("waits until");
  await second.supervisor.stop();
  expect((await use()).starting?.pid).toBe(process.pid);
  expect(second.supervisor.pid).toBeNull();
}, 60_000);
