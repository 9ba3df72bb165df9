import { describe, expect, it, vi } from "vitest";
import { DrainFleet, HERE } from "../testing/drain-fleet";
import { until } from "../testing/until";

const fleet = new DrainFleet();

describe("a run that drains", () => {
  it("parks the nodes of its worker's machine and no other, and waits until they are", async () => {
    const run = await fleet.draining(3);
    expect(run.waitsFor).toMatch(/^Draining node here: /);
    const waits = await until(
      async () => (await run.beat()).json.waits_for,
      (said) => /3 requests/.test(said ?? ""),
    );
    expect(waits).toBe("Draining node here: 3 requests running.");
    expect(await fleet.get(run.id)).toMatchObject({ state: "RUNNING", room: "drain", waitingReason: waits });
    expect(await fleet.control.as("viewer").node.get({ id: fleet.here.id })).toMatchObject({
      orders: { drain: false, parkedFor: [run.id] },
    });
    expect(fleet.elsewhere.orders).toMatchObject({ revision: 0, drain: false });

    await fleet.here.runs(0);
    expect((await run.beat()).json).toMatchObject({ action: "continue", waits_for: null });
    expect((await fleet.get(run.id)).waitingReason).toBeNull();
    // From here on it computes: a node that reports something else keeps it no longer.
    await fleet.here.runs(1);
    expect((await run.beat()).json.waits_for).toBeNull();
    const [row] = await fleet.audited("node.park", fleet.here.id);
    expect(row).toMatchObject({ actorName: "worker w1", after: { calibration: run.id } });
    await fleet.worker.finish(run.id, { attempt: run.attempt, outcome: "cancelled" });
    await fleet.served();
  });

  it("is given to no worker that does not say which machine it is on, nor to one with room beside alone", async () => {
    const { id } = await fleet
      .operator()
      .calibration.start({ pairId: fleet.pairId, device: "cpu", room: "drain" });
    expect((await fleet.worker.claim()).status).toBe(204);
    expect((await fleet.get(id)).waitingReason).toMatch(/which machine/);
    const beside = await fleet.worker.claim({
      machine: HERE,
      rooms: ["beside"],
      waiting: "a foreign process",
    });
    expect(beside.status).toBe(204);
    expect((await fleet.get(id)).waitingReason).toBe("a foreign process");
    await fleet.operator().calibration.cancel({ id });
    const queued = await fleet.operator().calibration.start({ pairId: fleet.pairId, device: "cpu" });
    const drains = { machine: HERE, rooms: ["drain" as const], waiting: "too little memory beside" };
    expect((await fleet.worker.claim(drains)).status).toBe(204);
    expect((await fleet.get(queued.id)).waitingReason).toBe("too little memory beside");
    await fleet.operator().calibration.cancel({ id: queued.id });
  });

  it("does not wait for a node that nobody saw for a minute, and one beside parks nothing", async () => {
    await fleet.control.db.host.update({ where: { id: fleet.here.id }, data: { lastSeenAt: new Date(0) } });
    const uptime = vi.spyOn(process, "uptime").mockReturnValue(3600);
    const gone = await fleet.draining(1);
    expect(gone.waitsFor).toBeNull();
    uptime.mockRestore();
    await fleet.worker.finish(gone.id, { attempt: gone.attempt, outcome: "cancelled" });
    await fleet.control.db.host.update({ where: { id: fleet.here.id }, data: { lastSeenAt: new Date() } });
    await fleet.here.runs(0);
    const { id } = await fleet.operator().calibration.start({ pairId: fleet.pairId, device: "cpu" });
    const job = (await fleet.claim()).json;
    expect(job).toMatchObject({ id, room: "beside", waits_for: null });
    expect(await fleet.control.db.nodePark.count()).toBe(0);
    await fleet.worker.finish(id, { attempt: job.attempt, outcome: "cancelled" });
    await fleet.served();
  });
});

describe("an operator", () => {
  it("finds a node drained that was drained before, and cannot undrain one that is parked", async () => {
    await fleet.operator().node.drain({ id: fleet.here.id });
    const { id, attempt } = await fleet.parked();
    const refused = await fleet
      .operator()
      .node.undrain({ id: fleet.here.id })
      .catch((error) => error.cause);
    expect(refused).toMatchObject({ code: "NODE_PARKED", details: { calibrationId: id } });
    await fleet.worker.finish(id, { attempt, outcome: "cancelled" });
    await until(
      () => fleet.here.orders,
      ({ park }) => !park,
    );
    expect(fleet.here.orders).toMatchObject({ drain: true, park: false });
    await fleet.operator().node.undrain({ id: fleet.here.id });
    await fleet.served();
  });

  it("is told what a drain reaches, and confirms one that leaves a route without a node", async () => {
    await fleet.claim();
    await fleet.control
      .as("admin")
      .route.create({ name: "tested", pairId: fleet.pairId, judge: { meanLogprob: -1, minLogprob: -5 } });
    const reach = () =>
      fleet.control.as("viewer").calibration.drainReach({ pairId: fleet.pairId, device: "cpu" });
    expect((await reach()).workers).toMatchObject([
      { name: "w1", machineKnown: true, nodes: [{ name: "here", state: "SERVING" }], unserved: [] },
    ]);
    expect((await fleet.control.as("viewer").worker.list())[0]?.nodesBeside).toEqual(["here"]);
    fleet.elsewhere.socket.disconnect();
    await until(reach, ({ workers }) => workers[0]?.unserved.includes("tested") === true);
    const asked = { pairId: fleet.pairId, device: "cpu" as const, room: "drain" as const };
    const refused = await fleet
      .operator()
      .calibration.start(asked)
      .catch((error) => error.cause);
    expect(refused).toMatchObject({
      code: "NONE_WOULD_SERVE",
      details: { routes: expect.arrayContaining(["tested"]), nodes: ["here"] },
    });
    const { id } = await fleet.operator().calibration.start({ ...asked, acceptNoServing: true });
    // Of a node that is parked just now nobody may say that it served nothing before.
    const job = (await fleet.claim()).json;
    expect(job.id).toBe(id);
    await until(reach, ({ workers }) => workers[0]?.nodes[0]?.state === "PARKED");
    expect((await reach()).workers[0]?.unserved).toContain("tested");
    await fleet.worker.finish(id, { attempt: job.attempt, outcome: "cancelled" });
    await fleet.served();
    // What was meant once is meant by a retry, too.
    await fleet.operator().calibration.retry({ id });
    await fleet.operator().calibration.cancel({ id });
    fleet.elsewhere.socket.connect();
    await until(reach, ({ workers }) => workers[0]?.unserved.length === 0);
    const second = await fleet.operator().calibration.start(asked);
    await fleet.operator().calibration.cancel({ id: second.id });
    fleet.elsewhere.socket.disconnect();
    await until(reach, ({ workers }) => workers[0]?.unserved.includes("tested") === true);
    const retried = fleet.operator().calibration.retry({ id: second.id });
    expect(await retried.catch((error) => error.cause)).toMatchObject({ code: "NONE_WOULD_SERVE" });
    fleet.elsewhere.socket.connect();
    await until(reach, ({ workers }) => workers[0]?.unserved.length === 0);
  });
});
