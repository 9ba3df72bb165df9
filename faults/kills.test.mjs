import { afterAll, beforeAll, expect, it } from "vitest";
import { KilledRun } from "./kills.mjs";
import { kill9, stillAlive } from "./processes.mjs";
import { Rig } from "./rig.mjs";

const rig = new Rig();
let run;

beforeAll(async () => {
  await rig.start();
  await rig.startWorker();
}, 240_000);
afterAll(async () => {
  await rig.stop();
  kill9(rig.left());
  rig.remove();
}, 120_000);

it("a calibration through a kill -9 of its job, its worker, the control plane and PostgreSQL", {
  timeout: 900_000,
}, async () => {
  run = new KilledRun(rig);
  await run.begin();
  await run.killJob(5);
  await run.retry();
  await run.killWorker(8);
  await run.retry();
  await run.killControlPlane(10, 2_000);
  await run.killPostgres(27, 2_000);
  const ended = await run.finish();
  expect(ended.attempts.map(({ state, error }) => [state, error?.code ?? null])).toEqual([
    ["FAILED", "MEMORY_SHORT"],
    ["FAILED", "WORKER_RESTARTED"],
    ["SUCCEEDED", null],
  ]);
  expect(run.acked).toBeGreaterThan(50);
  expect(run.watch.looks).toBeGreaterThan(50);
});

it("a start after a kill -9 of everything in the middle of a run: nothing lost, nothing left, nothing stuck", {
  timeout: 300_000,
}, async () => {
  const second = new KilledRun(rig);
  await second.begin();
  await second.reach(3);
  const before = await second.get();
  const everything = rig.left();
  expect(everything.length).toBeGreaterThan(5);
  // The launcher's part of the tree first: what is below it must find out by itself.
  for (const name of ["worker", "control-plane", "postgres"]) await rig.kill(name);
  await expect
    .poll(() => stillAlive(everything).map(({ command }) => command.slice(0, 80)), { timeout: 40_000 })
    .toEqual([]);
  await rig.startPostgres();
  await rig.startControlPlane();
  expect((await run.get()).state).toBe("SUCCEEDED");
  const after = await second.get();
  expect(after.lastSeq).toBeGreaterThanOrEqual(before.lastSeq);
  await rig.startWorker();
  // LOST for a moment where the machine is slow, and then what the worker's next life says.
  await expect
    .poll(async () => (await second.get()).error?.code, { timeout: 60_000 })
    .toBe("WORKER_RESTARTED");
  await second.watch.stop();
  second.ledger.stop();
  expect(second.watch.faults).toEqual([]);
});
