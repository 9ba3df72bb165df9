import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { calibrationJob, scriptedPython, TestControlPlane, workerOptions } from "./testing";
import { work } from "./worker";

const within = { timeout: 60_000, interval: 50 };
vi.setConfig({ testTimeout: 240_000 });

/** A worker whose job is fitted while the control plane's store takes nothing. */
async function fittedIntoFullStore() {
  const controlPlane = new TestControlPlane();
  await controlPlane.start();
  controlPlane.storageFull = true;
  controlPlane.jobs.push(calibrationJob());
  const options = await workerOptions(controlPlane, await scriptedPython(`log("fitted"); result();`));
  const running = work(options);
  onTestFinished(async () => {
    options.stop();
    await running.catch(() => undefined);
    await controlPlane.stop();
  });
  await expect.poll(() => controlPlane.turnedAway, within).toBeGreaterThan(1);
  const mapper = async () => {
    const folder = join(options.config.stateDir, "artifacts", "ab".repeat(32));
    return readFile(join(folder, "mapper.safetensors"), "utf8").catch(() => null);
  };
  const outbox = () => readdir(join(options.config.stateDir, "outbox"));
  return { controlPlane, options, running, mapper, outbox };
}

it("keeps its mapper and its lease while the store is full, and delivers once there is room", async () => {
  const { controlPlane, mapper, outbox } = await fittedIntoFullStore();
  const beats = controlPlane.beats;
  const tries = controlPlane.turnedAway;
  await expect.poll(() => controlPlane.turnedAway, within).toBeGreaterThan(tries);
  await expect.poll(() => controlPlane.beats, within).toBeGreaterThan(beats);
  expect(await mapper()).toBe("mapper");
  expect(controlPlane.finished).toEqual([]);
  controlPlane.storageFull = false;
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "fitted", artifact_sha256: "ab".repeat(32) });
  expect(controlPlane.uploads).toEqual([{ path: expect.stringContaining("abab"), bytes: 6 }]);
  await expect.poll(outbox, within).toEqual([]);
  expect(await mapper()).toBeNull();
});

it("keeps them over its own end too, and its next life delivers", async () => {
  const { controlPlane, options, running, mapper, outbox } = await fittedIntoFullStore();
  options.stop();
  await running;
  expect(await mapper()).toBe("mapper");
  expect(await outbox()).not.toEqual([]);
  expect(controlPlane.finished).toEqual([]);
  controlPlane.storageFull = false;
  const next = await workerOptions(controlPlane, options.python);
  const again = work({ ...next, config: options.config });
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "fitted", artifact_sha256: "ab".repeat(32) });
  expect(controlPlane.uploads).toHaveLength(1);
  next.stop();
  await again;
});
