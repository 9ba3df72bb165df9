import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../scripts/demo/admin.mjs";
import { kill9 } from "./processes.mjs";
import { Rig } from "./rig.mjs";
import { scriptedPython } from "./scripted-python.mjs";

const MODELS = ["m1", "m2", "m3", "m4"];
const WORKERS = ["worker", "worker-2", "worker-3", "worker-4"];
const rig = new Rig({ seed: "" });
const journal = join(rig.stateDir, "journal.jsonl");
let pairs = [];

beforeAll(async () => {
  rig.python = scriptedPython(join(rig.stateDir, "double"), journal);
  const models = join(rig.stateDir, "models");
  for (const model of MODELS) {
    mkdirSync(join(models, model), { recursive: true });
    writeFileSync(join(models, model, "config.json"), "{}");
  }
  rig.models = models;
  await rig.start();
  await rig.startWorker("worker", { leases: "worker" });
  // All at once: an open inspection is shared, so that four models are read a few times and not twenty-four.
  const both = MODELS.flatMap((source) => MODELS.map((target) => [source, target]));
  await Promise.all(
    both
      .filter(([source, target]) => source !== target)
      .map(([sourceModel, targetModel]) => rig.admin.change("pair.register", { sourceModel, targetModel })),
  );
  for (const name of WORKERS.slice(1)) {
    const { token } = await rig.admin.change("host.createJoinToken", { kind: "worker" });
    // Each on a host of its own: they share the queue and no device.
    await rig.startWorker(name, { token, leases: name });
  }
  pairs = await until("12 pairs being registered", 240_000, async () => {
    const found = (await rig.admin.ask("pair.list")).filter((pair) => !pair.control);
    return found.length === 12 && found;
  });
}, 480_000);
afterAll(async () => {
  await rig.stop();
  kill9(rig.left());
  rig.remove();
}, 120_000);

const start = async (pair) =>
  (await rig.admin.change("calibration.start", { pairId: pair.id, corpus: "small", device: "cpu" })).id;
const get = (id) => rig.admin.ask("calibration.get", { id });
const notes = () =>
  existsSync(journal)
    ? readFileSync(journal, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];

/** Pairs that two jobs computed at one moment, or that one process began twice. */
function doubles(entries) {
  const open = new Map();
  const found = [];
  for (const { what, pair, pid, worker } of entries) {
    if (what === "begin" && open.has(pair)) found.push({ pair, first: open.get(pair), second: pid });
    if (what === "begin") open.set(pair, { pid, worker });
    else open.delete(pair);
  }
  return found;
}

it("twelve jobs and four workers: each job is run once, by one of them, and all take part", {
  timeout: 240_000,
}, async () => {
  const ids = await Promise.all(pairs.map(start));
  await until("all ending", 200_000, async () =>
    (await Promise.all(ids.map(get))).every((run) => run.state === "FAILED"),
  );
  const runs = await Promise.all(ids.map(get));
  expect(runs.map((run) => [run.attempt, run.error.code])).toEqual(runs.map(() => [1, "DOUBLE_DONE"]));
  expect(new Set(runs.flatMap((run) => run.attempts.map((one) => one.worker))).size).toBe(4);
  const entries = notes();
  expect(entries.filter(({ what }) => what === "begin")).toHaveLength(12);
  expect(doubles(entries)).toEqual([]);
});

it("the same while workers are killed: what they held is told of, and no job is computed twice at once", {
  timeout: 300_000,
}, async () => {
  const before = notes().length;
  const ids = await Promise.all(pairs.map(start));
  for (const name of WORKERS.slice(0, 2)) {
    await until(`${name} computing`, 60_000, () => rig.jobOf(name).length > 0);
    await rig.kill(name);
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const name of WORKERS.slice(0, 2)) await rig.startWorker(name, { leases: name });
  const done = new Set();
  await until("every run having been computed", 240_000, async () => {
    for (const run of await Promise.all(ids.map(get))) {
      if (run.error?.code === "DOUBLE_DONE") done.add(run.id);
      if (["LOST", "FAILED"].includes(run.state) && run.error?.code !== "DOUBLE_DONE")
        await rig.admin.change("calibration.retry", { id: run.id });
    }
    return done.size === ids.length;
  });
  const runs = await Promise.all(ids.map(get));
  const retried = runs.filter((run) => run.attempt > 1);
  expect(retried).toHaveLength(2);
  for (const run of retried) expect(["WORKER_RESTARTED", "LOST"]).toContain(run.attempts[0].error.code);
  // A killed job wrote no end: its pair begins again, and only after its process was gone.
  const entries = notes().slice(before);
  expect(entries.filter(({ what }) => what === "end")).toHaveLength(12);
  const overlapping = doubles(entries);
  expect(overlapping.map(({ pair }) => pair).sort()).toEqual(
    retried.map((run) => `${run.sourceModel}->${run.targetModel}`).sort(),
  );
});

it("two workers on one host take turns: one device, one job", { timeout: 240_000 }, async () => {
  for (const name of WORKERS) await rig.children.get(name).stop();
  const before = notes().length;
  for (const name of WORKERS.slice(0, 2)) await rig.startWorker(name, { leases: "shared" });
  const ids = await Promise.all(pairs.slice(0, 4).map(start));
  const reasons = new Set();
  await until("all ending", 200_000, async () => {
    const runs = await Promise.all(ids.map(get));
    for (const run of runs) if (run.state === "QUEUED") reasons.add(run.waitingReason);
    return runs.every((run) => run.state === "FAILED");
  });
  let open = 0;
  for (const { what } of notes().slice(before)) {
    open += what === "begin" ? 1 : -1;
    expect(open).toBeLessThanOrEqual(1);
  }
  expect([...reasons].some((text) => /device lease on cpu is held by process \d+/.test(text ?? ""))).toBe(
    true,
  );
});
