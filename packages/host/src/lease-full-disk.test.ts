import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { DeviceGuard } from "./device-guard";
import { acquireDeviceLease } from "./device-lease";
import { acquireEngineStart } from "./engine-lease";
import { readDeviceUse } from "./lease-file";
import { withLeaseLock } from "./lease-lock";
import { processStart } from "./process-identity";
import { temporaryFolder } from "./testing";
import { canMount, fillDisk, makeRoom, mountSmallDisk, unmount } from "./testing-disk";

const within = { timeout: 15_000 };
const purpose = "engine";

async function smallDisk() {
  const place = mountSmallDisk(join(await temporaryFolder(), "disk"), "256k");
  onTestFinished(() => unmount(place));
  return { place, directory: join(place, "leases") };
}

/** Only root may mount a disk that a test can fill. */
it.runIf(canMount())("does not wait for itself where the end of a start could not be written", async () => {
  const { place, directory } = await smallDisk();
  const waited: string[] = [];
  const start = (milliseconds: number) =>
    acquireEngineStart({
      directory,
      device: "cpu",
      purpose,
      signal: AbortSignal.timeout(milliseconds),
      onWaiting: (holder) => waited.push(holder.purpose),
    });
  const first = await start(60_000);
  fillDisk(place);
  await first.release();
  await expect(start(60_000)).rejects.toThrow("ENOSPC");
  expect((await readdir(directory)).sort()).toEqual(["cpu.lease"]);
  makeRoom(place);
  const second = await start(5_000);
  expect(waited).toEqual([]);
  await second.release();
  await expect.poll(() => readdir(directory), within).toEqual([]);
});

it.runIf(canMount())("gives a device back once its disk has room again, unasked", async () => {
  const { place, directory } = await smallDisk();
  const taken = await acquireDeviceLease({ directory, device: "cpu", purpose });
  fillDisk(place);
  if (taken.ok) await taken.lease.release();
  expect(await readdir(directory)).toEqual(["cpu.lease"]);
  makeRoom(place);
  await expect.poll(() => readdir(directory), within).toEqual([]);
});

it("takes a lease that cannot be read for no empty one: the guard says so and frees nothing", async () => {
  const directory = await temporaryFolder();
  await mkdir(join(directory, "cpu.lease"));
  await expect(readDeviceUse({ directory, device: "cpu" })).rejects.toThrow("EISDIR");
  await expect(acquireDeviceLease({ directory, device: "cpu", purpose })).rejects.toThrow("EISDIR");
  const guard = new DeviceGuard({
    python: { python: "/nowhere", source: "/nowhere" },
    leaseDir: directory,
    leaseName: "cpu",
    device: "cpu",
    budget: { neededBytes: 1, mostUtilisation: 80, observers: [] },
  });
  expect(await guard.look()).toMatchObject({ rooms: [], sentence: expect.stringContaining("EISDIR") });
});

it("waits no shorter for a lock when the clock is set while it waits", async () => {
  const path = join(await temporaryFolder(), "x.lock");
  const owner = { pid: process.pid, started: processStart(process.pid), token: "t" };
  await writeFile(path, JSON.stringify(owner));
  onTestFinished(() => void vi.useRealTimers());
  const entered = withLeaseLock(path, async () => "in");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5 * 3_600_000 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await rm(path);
  expect(await entered).toBe("in");
});
