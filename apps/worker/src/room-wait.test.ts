import { mkdir } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { ControlPlane } from "./control-plane";
import { runCalibration } from "./run-calibration";
import { calibrationJob, scriptedPython, TestControlPlane, temporaryFolder, workerOptions } from "./testing";
import { work } from "./worker";

const within = { timeout: 20_000 };
const WAITS = "Draining node n1: 3 requests running.";

/** A worker that claims a run whose nodes are being drained. */
async function draining(steps: string) {
  const controlPlane = new TestControlPlane();
  await controlPlane.start();
  onTestFinished(() => controlPlane.stop());
  controlPlane.waitsFor = WAITS;
  controlPlane.jobs.push(calibrationJob({ room: "drain", waits_for: WAITS }));
  const options = await workerOptions(controlPlane, await scriptedPython(steps));
  const ended = work(options);
  onTestFinished(async () => {
    options.stop();
    await ended;
  });
  const logs = () =>
    controlPlane.batches.flatMap(({ events }) =>
      events.flatMap(({ event }) => (event.type === "log" ? [event.message] : [])),
    );
  return { controlPlane, options, logs };
}

it("begins once no heartbeat names anything that it waits for, and tells the run's log of both", async () => {
  const { controlPlane, logs } = await draining(`log("begun"); result();`);
  await expect.poll(logs, within).toEqual([WAITS]);
  const { beats } = controlPlane;
  await expect.poll(() => controlPlane.beats, within).toBeGreaterThan(beats + 1);
  expect(logs()).toEqual([WAITS]);
  controlPlane.waitsFor = null;
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "fitted" });
  expect(logs()).toEqual([WAITS, expect.stringMatching(/parked after \d+ s/), "begun"]);
});

it("says that the room is free as soon as the job is gone, though its mapper cannot be stored yet", async () => {
  const { controlPlane } = await draining(`result();`);
  controlPlane.storageFull = true;
  controlPlane.waitsFor = null;
  await expect.poll(() => controlPlane.turnedAway, within).toBeGreaterThan(0);
  await expect.poll(() => controlPlane.roomFree, within).toBe(true);
  expect(controlPlane.finished).toEqual([]);
});

it("ends as cancelled where that is asked for meanwhile, and never begins", async () => {
  const { controlPlane, logs } = await draining(`log("begun"); result();`);
  await expect.poll(logs, within).toEqual([WAITS]);
  controlPlane.action = "cancel";
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "cancelled", exit_code: 130 });
  expect(logs()).toEqual([WAITS]);
});

it("goes on waiting while the control plane is away, and stops without a word where the run has ended", async () => {
  const { controlPlane, logs } = await draining(`log("begun"); result();`);
  await expect.poll(logs, within).toEqual([WAITS]);
  await controlPlane.stop();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await controlPlane.start();
  controlPlane.fenced = true;
  controlPlane.waitsFor = null;
  const { beats } = controlPlane;
  controlPlane.jobs.push(calibrationJob({ id: "job-2", attempt: "attempt-2" }));
  await expect.poll(() => controlPlane.jobs, within).toEqual([]);
  expect(controlPlane.beats).toBe(beats);
  expect(controlPlane.finished).toEqual([]);
});

it("fails where the device is not free all the same, with the guard's sentence", async () => {
  const controlPlane = new TestControlPlane();
  await controlPlane.start();
  onTestFinished(() => controlPlane.stop());
  const { config, log, python } = await workerOptions(controlPlane, await scriptedPython(`result();`));
  const never = new AbortController().signal;
  const client = new ControlPlane({ controlUrl: controlPlane.url, credential: "c" }, null);
  onTestFinished(() => client.close());
  config.stateDir = await temporaryFolder();
  await mkdir(`${config.stateDir}/outbox`);
  const job = calibrationJob({ room: "drain" });
  if (job.kind !== "calibration") throw new Error("not a calibration");
  await runCalibration(
    job,
    { config, python, log, controlPlane: client, signal: never, giveUp: never, onRunning: () => {} },
    {
      onJob: () => Promise.resolve(),
      afterJob: () => Promise.resolve(),
      guard: async () => "Process 7 (foreign) holds 3 GiB. End it, then retry.",
    },
  );
  expect(controlPlane.finished[0]).toMatchObject({
    outcome: "failed",
    code: "DEVICE_NOT_FREE",
    exit_code: 6,
    message: expect.stringContaining("Process 7 (foreign)"),
  });
});
