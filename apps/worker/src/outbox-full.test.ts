import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { canMount, fillDisk, mountSmallDisk, unmount } from "@helm/host/testing-disk";
import { expect, it, onTestFinished, vi } from "vitest";
import { calibrationJob, scriptedPython, TestControlPlane, workerOptions } from "./testing";
import { work } from "./worker";

const within = { timeout: 60_000, interval: 50 };
// Real processes and real waiting: slow where the machine is busy.
vi.setConfig({ testTimeout: 240_000 });

async function setUp(steps: string) {
  const controlPlane = new TestControlPlane();
  await controlPlane.start();
  const options = await workerOptions(controlPlane, await scriptedPython(steps));
  const start = () => {
    const running = work(options);
    onTestFinished(async () => {
      options.stop();
      await running.catch(() => undefined);
      await controlPlane.stop();
    });
  };
  return { controlPlane, options, start };
}

const messages = (controlPlane: TestControlPlane) =>
  controlPlane.batches.flatMap(({ events }) =>
    events.flatMap(({ event }) => (event.type === "log" ? [event.message] : [])),
  );

it("leaves log lines out once the outbox is full, says how many, and delivers the rest in order", async () => {
  const { controlPlane, options, start } = await setUp(
    `log("begun"); await sleep(1500); for (let i = 0; i < 100; i++) log(i + " " + "x".repeat(1000)); await sleep(500); result();`,
  );
  options.config.outbox = { maxBytes: 64 * 1024, reserveBytes: 64 * 1024 };
  controlPlane.jobs.push(calibrationJob());
  start();
  await expect.poll(() => messages(controlPlane), within).toEqual(["begun"]);
  await controlPlane.stop();
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  await controlPlane.start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "fitted" });
  const seqs = [...new Set(controlPlane.seqs)];
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1));
  const kept = messages(controlPlane).filter((line) => /^\d+ x/.test(line)).length;
  expect(kept).toBeGreaterThan(20);
  expect(kept).toBeLessThan(100);
  const types = controlPlane.batches.flatMap(({ events }) => events.map(({ event }) => event.type));
  expect(types.filter((type) => type === "result")).toHaveLength(1);
});

it("ends a run whose decisive events find no room, and says so once the control plane is back", async () => {
  const { controlPlane, options, start } = await setUp(
    `log("begun"); await sleep(1500);
     for (let i = 0; i < 400; i++) { emit({ type: "stage", stage: "score", index: i, of: 400 }); await sleep(1); } await sleep(60_000); result();`,
  );
  options.config.outbox = { maxBytes: 8 * 1024, reserveBytes: 4 * 1024 };
  controlPlane.jobs.push(calibrationJob());
  start();
  await expect.poll(() => messages(controlPlane), within).toEqual(["begun"]);
  await controlPlane.stop();
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  await controlPlane.start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({
    outcome: "failed",
    code: "OUTBOX_FULL",
    message: expect.stringContaining("HELM_OUTBOX_MAX_BYTES"),
  });
  expect(controlPlane.uploads).toEqual([]);
});

it.runIf(canMount())(
  "ends a claimed run at once that its full disk cannot write down, with the reason",
  async () => {
    const { controlPlane, options, start } = await setUp(`result();`);
    await mkdir(dirname(options.config.stateDir), { recursive: true });
    const disk = mountSmallDisk(options.config.stateDir, "64k");
    onTestFinished(() => unmount(disk));
    await mkdir(`${disk}/outbox`);
    fillDisk(disk);
    controlPlane.jobs.push(calibrationJob());
    start();
    await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
    expect(controlPlane.finished[0]).toMatchObject({
      outcome: "failed",
      code: "WORKER_DISK_FULL",
      exit_code: 6,
    });
  },
);
