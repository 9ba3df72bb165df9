import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../scripts/demo/admin.mjs";
import { kill9 } from "./processes.mjs";
import { Rig } from "./rig.mjs";
import { ScriptedLibrary } from "./scripted-library.mjs";

const NAMES = ["m0", "m1", "m2", "m3"];
const WORKERS = ["worker-0", "worker-1", "worker-2", "worker-3"];
const DIRECTIONS = NAMES.flatMap((source) =>
  NAMES.filter((name) => name !== source).map((target) => [source, target]),
);

// The programs and every door between them are the real ones; the Python library alone is a double.
const rig = new Rig({ seed: "" });
const library = new ScriptedLibrary(rig.stateDir, { names: NAMES, jobMs: 4_000 });
Object.assign(rig, { python: library.python, models: library.models });

beforeAll(async () => {
  await rig.start();
  for (const name of WORKERS) {
    const { token } = await rig.admin.change("host.createJoinToken", { kind: "worker" });
    // A host's worker each: on one host the lease on its device would let one work at a time.
    await rig.startWorker(name, { token, leases: name });
  }
}, 300_000);
afterAll(async () => {
  await rig.stop();
  kill9(rig.left());
  rig.remove();
}, 120_000);

const runs = async () => (await rig.admin.ask("calibration.list", { limit: 100 })).rows;
const get = (id) => rig.admin.ask("calibration.get", { id });

it("four workers share twelve jobs: none runs twice, and an attempt that was replaced brings nothing home", {
  timeout: 900_000,
}, async () => {
  for (const [sourceModel, targetModel] of DIRECTIONS)
    await rig.admin.change("pair.register", { sourceModel, targetModel });
  const pairs = await until("twelve pairs being registered", 180_000, async () => {
    const found = await rig.admin.ask("pair.list");
    return found.length === DIRECTIONS.length && found;
  });
  for (const { id } of pairs)
    await rig.admin.change("calibration.start", { pairId: id, corpus: "small", device: "cpu", k: 2 });

  // One worker stands still in the middle of its job, which goes on without it.
  const { stuck, holder } = await until("a run whose worker stands still", 120_000, async () => {
    const found = (await runs()).find(({ state, lastSeq }) => state === "RUNNING" && lastSeq > 0);
    if (!found) return null;
    const { worker } = (await get(found.id)).attempts[0];
    process.kill(rig.pidOf(worker), "SIGSTOP");
    if ((await get(found.id)).state === "RUNNING") return { stuck: found, holder: worker };
    // It came to its end before its worker stood still.
    process.kill(rig.pidOf(worker), "SIGCONT");
    return null;
  });
  const outbox = join(rig.stateDir, "workers", holder, "outbox");
  try {
    await until("its run being LOST", 120_000, async () => (await get(stuck.id)).state === "LOST");
    await rig.admin.change("calibration.retry", { id: stuck.id });
    await until("every run having succeeded", 240_000, async () =>
      (await runs()).every(({ state }) => state === "SUCCEEDED"),
    );
    expect(readdirSync(outbox)).toHaveLength(1);
  } finally {
    process.kill(rig.pidOf(holder), "SIGCONT");
  }
  // Told by a heartbeat or by a refused delivery, whichever comes first: nothing of it is kept to be sent.
  await until("the old attempt being given up", 60_000, () => readdirSync(outbox).length === 0);

  const noted = library.noted();
  for (const { name, id } of pairs) {
    const own = noted.filter(({ pair }) => pair === name);
    const again = id === stuck.pairId ? 2 : 1;
    expect(own.filter(({ what }) => what === "begin")).toHaveLength(again);
    // Both attempts of the stuck run were fitted to their end; what is stored is the second one's.
    const run = await get((await runs()).find((one) => one.pairId === id).id);
    expect(run.attempts.map(({ state }) => state)).toEqual(
      again === 2 ? ["LOST", "SUCCEEDED"] : ["SUCCEEDED"],
    );
    const stored = own.filter(({ what, sha256 }) => what === "end" && sha256 === run.mapperSha256);
    expect(stored).toHaveLength(1);
    expect(stored[0].pid).toBe(own.filter(({ what }) => what === "begin").at(-1).pid);
  }
  // Everyone had a share of it, and the server gave out as many attempts as began.
  const attempts = (await Promise.all((await runs()).map(({ id }) => get(id)))).flatMap(
    (run) => run.attempts,
  );
  expect(new Set(attempts.map(({ worker }) => worker))).toEqual(new Set(WORKERS));
  expect(attempts).toHaveLength(DIRECTIONS.length + 1);
  const claims = await rig.admin.ask("audit.list", { verb: "calibration.claim", limit: 100 });
  expect(claims.rows).toHaveLength(attempts.length);
});
