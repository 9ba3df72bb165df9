import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { renewAllLeases } from "../calibration/lease";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { obedientNode } from "../testing/obedient-node";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, sha256, type TestWorker } from "../testing/worker";
import { inTransaction, outsideTransaction } from "../transaction";

const HERE = "a".repeat(32);
const ELSEWHERE = "b".repeat(32);

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let here: Awaited<ReturnType<typeof obedientNode>>;
let elsewhere: Awaited<ReturnType<typeof obedientNode>>;

beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "2000", HELM_DRAIN_MS: "60000" });
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  here = await obedientNode(control, "here", HERE);
  elsewhere = await obedientNode(control, "elsewhere", ELSEWHERE);
});
afterAll(() => control.stop());

const operator = () => control.as("operator");
const get = (id: string) => control.as("viewer").calibration.get({ id });
const node = (id: string) => control.as("viewer").node.get({ id });
const claim = () => worker.claim({ machine: HERE });

/** A run that drains, claimed while the node has so many requests. */
async function draining(requests = 1) {
  await here.runs(requests);
  const { id } = await operator().calibration.start({ pairId, device: "cpu", room: "drain" });
  const job = (await claim()).json;
  expect(job).toMatchObject({ id, room: "drain" });
  const attempt = job.attempt as string;
  return { id, attempt, waitsFor: job.waits_for, beat: () => worker.heartbeat(id, attempt) };
}

/** As draining, and its node is parked: the job may begin. */
async function parked() {
  const run = await draining(0);
  await until(
    async () => (await run.beat()).json.waits_for,
    (waits) => waits === null,
  );
  expect(here.orders).toMatchObject({ drain: true, park: true });
  return run;
}

const served = () =>
  until(
    () => here.orders,
    (orders) => !orders.park && !orders.drain,
  );
const audited = async (verb: string, entityId: string) =>
  (await control.as("admin").audit.list({ verb, entityId })).rows;

beforeEach(async () => {
  await here.runs(0);
});
afterEach(async () => {
  const open = (await control.as("viewer").pair.get({ id: pairId })).calibrating;
  if (open) {
    await operator().calibration.cancel({ id: open });
    await worker.heartbeat(open, "00000000-0000-7000-8000-000000000000");
    await until(
      () => get(open),
      ({ state }) => state === "CANCELLED" || state === "LOST",
    );
  }
  expect(await control.db.nodePark.count()).toBe(0);
});

describe("a run that drains", () => {
  it("parks the nodes of its worker's machine and no other, and waits until they are", async () => {
    const run = await draining(3);
    expect(run.waitsFor).toMatch(/^Draining node here: /);
    const waits = await until(
      async () => (await run.beat()).json.waits_for,
      (said) => /3 requests/.test(said ?? ""),
    );
    expect(waits).toBe("Draining node here: 3 requests running.");
    expect(await get(run.id)).toMatchObject({ state: "RUNNING", room: "drain", waitingReason: waits });
    expect(await node(here.id)).toMatchObject({ orders: { drain: false, parkedFor: [run.id] } });
    expect(elsewhere.orders).toMatchObject({ revision: 0, drain: false });

    await here.runs(0);
    expect((await run.beat()).json).toMatchObject({ action: "continue", waits_for: null });
    expect((await get(run.id)).waitingReason).toBeNull();
    // From here on it computes: a node that reports something else keeps it no longer.
    await here.runs(1);
    expect((await run.beat()).json.waits_for).toBeNull();
    const [row] = await audited("node.park", here.id);
    expect(row).toMatchObject({ actorName: "worker w1", after: { calibration: run.id } });
    await worker.finish(run.id, { attempt: run.attempt, outcome: "cancelled" });
    await served();
  });

  it("is given to no worker that does not say which machine it is on, nor to one with room beside alone", async () => {
    const { id } = await operator().calibration.start({ pairId, device: "cpu", room: "drain" });
    expect((await worker.claim()).status).toBe(204);
    expect((await get(id)).waitingReason).toMatch(/which machine/);
    const beside = await worker.claim({ machine: HERE, rooms: ["beside"], waiting: "a foreign process" });
    expect(beside.status).toBe(204);
    expect((await get(id)).waitingReason).toBe("a foreign process");
    await operator().calibration.cancel({ id });
    const queued = await operator().calibration.start({ pairId, device: "cpu" });
    const drains = { machine: HERE, rooms: ["drain" as const], waiting: "too little memory beside" };
    expect((await worker.claim(drains)).status).toBe(204);
    expect((await get(queued.id)).waitingReason).toBe("too little memory beside");
    await operator().calibration.cancel({ id: queued.id });
  });

  it("does not wait for a node that nobody saw for a minute, and one beside parks nothing", async () => {
    await control.db.host.update({ where: { id: here.id }, data: { lastSeenAt: new Date(0) } });
    const uptime = vi.spyOn(process, "uptime").mockReturnValue(3600);
    const gone = await draining(1);
    expect(gone.waitsFor).toBeNull();
    uptime.mockRestore();
    await worker.finish(gone.id, { attempt: gone.attempt, outcome: "cancelled" });
    await control.db.host.update({ where: { id: here.id }, data: { lastSeenAt: new Date() } });
    await here.runs(0);
    const { id } = await operator().calibration.start({ pairId, device: "cpu" });
    const job = (await claim()).json;
    expect(job).toMatchObject({ id, room: "beside", waits_for: null });
    expect(await control.db.nodePark.count()).toBe(0);
    await worker.finish(id, { attempt: job.attempt, outcome: "cancelled" });
    await served();
  });
});

describe("the nodes come back", () => {
  it.each([
    ["SUCCEEDED", (id: string, attempt: string) => succeed(id, attempt)],
    ["FAILED", (id: string, attempt: string) => worker.finish(id, { attempt, outcome: "failed", code: "X" })],
    ["CANCELLED", (id: string, attempt: string) => worker.finish(id, { attempt, outcome: "cancelled" })],
  ])("where it %s", async (state, end) => {
    const { id, attempt } = await parked();
    await end(id, attempt);
    expect((await get(id)).state).toBe(state);
    expect(await control.db.nodePark.count()).toBe(0);
    await served();
    const [row] = await audited("node.unpark", here.id);
    expect(row).toMatchObject({ after: { calibration: id, parked: false, drain: false } });
  });

  it("where its worker falls silent; and are parked again where the same attempt comes back", async () => {
    const { id, attempt, beat } = await parked();
    await until(
      () => get(id),
      ({ state }) => state === "LOST",
    );
    await served();
    // Events alone may be what a restarted worker found on its disk: they take no node away.
    const { revision } = here.orders;
    await worker.events(id, attempt, runEvents(randomBytes(8), { share: 1 }).slice(0, 1));
    expect((await get(id)).state).toBe("RUNNING");
    expect([await control.db.nodePark.count(), here.orders.revision]).toEqual([0, revision]);
    // It computed already, so it does not wait a second time.
    expect((await beat()).json).toMatchObject({ action: "continue", waits_for: null });
    expect((await get(id)).state).toBe("RUNNING");
    await until(
      () => here.orders,
      ({ park }) => park === true,
    );
    await worker.finish(id, { attempt, outcome: "cancelled" });
    await served();
  });

  it("as soon as its job is gone, though its mapper is still to be stored", async () => {
    const { id, attempt } = await parked();
    expect((await worker.heartbeat(id, attempt, { room_free: true })).json.action).toBe("continue");
    await served();
    expect((await get(id)).state).toBe("RUNNING");
    await worker.finish(id, { attempt, outcome: "cancelled" });
  });

  it("where it is cancelled while they drain: at once, and the worker ends it", async () => {
    const { id, attempt, beat } = await draining(2);
    await operator().calibration.cancel({ id });
    expect(await control.db.nodePark.count()).toBe(0);
    await served();
    expect((await beat()).json).toMatchObject({ action: "cancel" });
    await worker.finish(id, { attempt, outcome: "cancelled" });
    expect((await get(id)).state).toBe("CANCELLED");
  });

  it("where the drain does not end in time: FAILED with its own code, and the worker is fenced", async () => {
    const { id, attempt, beat } = await draining(1);
    await control.db.calibrationAttempt.update({ where: { id: attempt }, data: { drainUntil: new Date(0) } });
    const ended = await until(
      () => get(id),
      ({ state }) => state !== "RUNNING",
    );
    expect(ended).toMatchObject({ state: "FAILED", error: { code: "DRAIN_TIMEOUT", exitCode: 6 } });
    expect(ended.error?.message).toMatch(/node here: 1 request running/);
    expect((await beat()).json.action).toBe("fenced");
    await served();
  });

  it("where its cancelled worker has to be ended without it, and where something else ended the run", async () => {
    const { id } = await parked();
    await operator().calibration.cancel({ id });
    await until(
      () => get(id),
      ({ state }) => state === "CANCELLED",
    );
    await served();
    const second = await parked();
    await control.db.calibration.update({ where: { id: second.id }, data: { state: "CANCELLED" } });
    await until(
      () => control.db.nodePark.count(),
      (left) => left === 0,
    );
    await served();
  });

  it("over a restart of the control plane in the middle, with a drain that is not cut short by it", async () => {
    const { id, attempt } = await draining(1);
    const ctx = outsideTransaction({
      services: control.services,
      actor: { kind: "system", name: "boot" },
      requestId: "boot",
      address: "local",
      log: control.services.log,
    });
    // Together, so that no sweep comes in between.
    await inTransaction(ctx, { audited: false, publish: false }, async (inner) => {
      await inner.db.calibrationAttempt.update({ where: { id: attempt }, data: { drainUntil: new Date(0) } });
      await renewAllLeases(inner);
    });
    const row = await control.db.calibrationAttempt.findUniqueOrThrow({ where: { id: attempt } });
    expect(row.drainUntil?.getTime()).toBeGreaterThan(Date.now());
    expect(await control.db.nodePark.count()).toBe(1);
    await worker.finish(id, { attempt, outcome: "cancelled" });
    await served();
  });
});

describe("an operator", () => {
  it("finds a node drained that was drained before, and cannot undrain one that is parked", async () => {
    await operator().node.drain({ id: here.id });
    const { id, attempt } = await parked();
    const refused = await operator()
      .node.undrain({ id: here.id })
      .catch((error) => error.cause);
    expect(refused).toMatchObject({ code: "NODE_PARKED", details: { calibrationId: id } });
    await worker.finish(id, { attempt, outcome: "cancelled" });
    await until(
      () => here.orders,
      ({ park }) => !park,
    );
    expect(here.orders).toMatchObject({ drain: true, park: false });
    await operator().node.undrain({ id: here.id });
    await served();
  });

  it("is told what a drain reaches, and confirms one that leaves a route without a node", async () => {
    await claim();
    await control
      .as("admin")
      .route.create({ name: "tested", pairId, judge: { meanLogprob: -1, minLogprob: -5 } });
    const reach = () => control.as("viewer").calibration.drainReach({ pairId, device: "cpu" });
    expect((await reach()).workers).toMatchObject([
      { name: "w1", machineKnown: true, nodes: [{ name: "here", state: "SERVING" }], unserved: [] },
    ]);
    expect((await control.as("viewer").worker.list())[0]?.nodesBeside).toEqual(["here"]);
    elsewhere.socket.disconnect();
    await until(reach, ({ workers }) => workers[0]?.unserved.includes("tested") === true);
    const asked = { pairId, device: "cpu" as const, room: "drain" as const };
    const refused = await operator()
      .calibration.start(asked)
      .catch((error) => error.cause);
    expect(refused).toMatchObject({
      code: "NONE_WOULD_SERVE",
      details: { routes: expect.arrayContaining(["tested"]), nodes: ["here"] },
    });
    const { id } = await operator().calibration.start({ ...asked, acceptNoServing: true });
    // Of a node that is parked just now nobody may say that it served nothing before.
    const job = (await claim()).json;
    expect(job.id).toBe(id);
    await until(reach, ({ workers }) => workers[0]?.nodes[0]?.state === "PARKED");
    expect((await reach()).workers[0]?.unserved).toContain("tested");
    await worker.finish(id, { attempt: job.attempt, outcome: "cancelled" });
    await served();
    // What was meant once is meant by a retry, too.
    await operator().calibration.retry({ id });
    await operator().calibration.cancel({ id });
    elsewhere.socket.connect();
    await until(reach, ({ workers }) => workers[0]?.unserved.length === 0);
    const second = await operator().calibration.start(asked);
    await operator().calibration.cancel({ id: second.id });
    elsewhere.socket.disconnect();
    await until(reach, ({ workers }) => workers[0]?.unserved.includes("tested") === true);
    const retried = operator().calibration.retry({ id: second.id });
    expect(await retried.catch((error) => error.cause)).toMatchObject({ code: "NONE_WOULD_SERVE" });
    elsewhere.socket.connect();
    await until(reach, ({ workers }) => workers[0]?.unserved.length === 0);
  });
});

/** From its events to its end. */
async function succeed(id: string, attempt: string) {
  const artifact = randomBytes(256);
  const printed = runEvents(artifact, {
    share: 1,
    asked: { source: "pilot", target: "target", method: "default", k: 4 },
  });
  await worker.events(id, attempt, printed);
  await worker.upload(id, attempt, artifact);
  return worker.finish(id, { attempt, outcome: "fitted", artifact_sha256: sha256(artifact) });
}
