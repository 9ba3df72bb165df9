import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { renewAllLeases } from "../calibration/lease";
import { DrainFleet } from "../testing/drain-fleet";
import { until } from "../testing/until";
import { runEvents, sha256 } from "../testing/worker";
import { inTransaction, outsideTransaction } from "../transaction";

const fleet = new DrainFleet();

describe("the nodes come back", () => {
  it.each([
    ["SUCCEEDED", (id: string, attempt: string) => succeed(id, attempt)],
    [
      "FAILED",
      (id: string, attempt: string) => fleet.worker.finish(id, { attempt, outcome: "failed", code: "X" }),
    ],
    [
      "CANCELLED",
      (id: string, attempt: string) => fleet.worker.finish(id, { attempt, outcome: "cancelled" }),
    ],
  ])("where it %s", async (state, end) => {
    const { id, attempt } = await fleet.parked();
    await end(id, attempt);
    expect((await fleet.get(id)).state).toBe(state);
    expect(await fleet.control.db.nodePark.count()).toBe(0);
    await fleet.served();
    const [row] = await fleet.audited("node.unpark", fleet.here.id);
    expect(row).toMatchObject({ after: { calibration: id, parked: false, drain: false } });
  });

  it("where its worker falls silent; and are parked again where the same attempt comes back", async () => {
    const { id, attempt, beat } = await fleet.parked();
    await until(
      () => fleet.get(id),
      ({ state }) => state === "LOST",
    );
    await fleet.served();
    // Events alone may be what a restarted worker found on its disk: they take no node away.
    const { revision } = fleet.here.orders;
    await fleet.worker.events(id, attempt, runEvents(randomBytes(8), { share: 1 }).slice(0, 1));
    expect((await fleet.get(id)).state).toBe("RUNNING");
    expect([await fleet.control.db.nodePark.count(), fleet.here.orders.revision]).toEqual([0, revision]);
    // It computed already, so it does not wait a second time.
    expect((await beat()).json).toMatchObject({ action: "continue", waits_for: null });
    expect((await fleet.get(id)).state).toBe("RUNNING");
    await until(
      () => fleet.here.orders,
      ({ park }) => park === true,
    );
    await fleet.worker.finish(id, { attempt, outcome: "cancelled" });
    await fleet.served();
  });

  it("as soon as its job is gone, though its mapper is still to be stored", async () => {
    const { id, attempt } = await fleet.parked();
    expect((await fleet.worker.heartbeat(id, attempt, { room_free: true })).json.action).toBe("continue");
    await fleet.served();
    expect((await fleet.get(id)).state).toBe("RUNNING");
    await fleet.worker.finish(id, { attempt, outcome: "cancelled" });
  });

  it("where it is cancelled while they drain: at once, and the worker ends it", async () => {
    const { id, attempt, beat } = await fleet.draining(2);
    await fleet.operator().calibration.cancel({ id });
    expect(await fleet.control.db.nodePark.count()).toBe(0);
    await fleet.served();
    expect((await beat()).json).toMatchObject({ action: "cancel" });
    await fleet.worker.finish(id, { attempt, outcome: "cancelled" });
    expect((await fleet.get(id)).state).toBe("CANCELLED");
  });

  it("where the drain does not end in time: FAILED with its own code, and the worker is fenced", async () => {
    const { id, attempt, beat } = await fleet.draining(1);
    await fleet.control.db.calibrationAttempt.update({
      where: { id: attempt },
      data: { drainUntil: new Date(0) },
    });
    const ended = await until(
      () => fleet.get(id),
      ({ state }) => state !== "RUNNING",
    );
    expect(ended).toMatchObject({ state: "FAILED", error: { code: "DRAIN_TIMEOUT", exitCode: 6 } });
    expect(ended.error?.message).toMatch(/node here: 1 request running/);
    expect((await beat()).json.action).toBe("fenced");
    await fleet.served();
  });

  it("where its cancelled worker has to be ended without it, and where something else ended the run", async () => {
    const { id } = await fleet.parked();
    await fleet.operator().calibration.cancel({ id });
    await until(
      () => fleet.get(id),
      ({ state }) => state === "CANCELLED",
    );
    await fleet.served();
    const second = await fleet.parked();
    await fleet.control.db.calibration.update({ where: { id: second.id }, data: { state: "CANCELLED" } });
    await until(
      () => fleet.control.db.nodePark.count(),
      (left) => left === 0,
    );
    await fleet.served();
  });

  it("over a restart of the control plane in the middle, with a drain that is not cut short by it", async () => {
    const { id, attempt } = await fleet.draining(1);
    const ctx = outsideTransaction({
      services: fleet.control.services,
      actor: { kind: "system", name: "boot" },
      requestId: "boot",
      address: "local",
      log: fleet.control.services.log,
    });
    // Together, so that no sweep comes in between.
    await inTransaction(ctx, { audited: false, publish: false }, async (inner) => {
      await inner.db.calibrationAttempt.update({ where: { id: attempt }, data: { drainUntil: new Date(0) } });
      await renewAllLeases(inner);
    });
    const row = await fleet.control.db.calibrationAttempt.findUniqueOrThrow({ where: { id: attempt } });
    expect(row.drainUntil?.getTime()).toBeGreaterThan(Date.now());
    expect(await fleet.control.db.nodePark.count()).toBe(1);
    await fleet.worker.finish(id, { attempt, outcome: "cancelled" });
    await fleet.served();
  });
});

/** From its events to its end. */
async function succeed(id: string, attempt: string) {
  const artifact = randomBytes(256);
  const printed = runEvents(artifact, {
    share: 1,
    asked: { source: "pilot", target: "target", method: "default", k: 4 },
  });
  await fleet.worker.events(id, attempt, printed);
  await fleet.worker.upload(id, attempt, artifact);
  return fleet.worker.finish(id, { attempt, outcome: "fitted", artifact_sha256: sha256(artifact) });
}
