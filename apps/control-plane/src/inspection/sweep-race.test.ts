import { afterAll, beforeAll, expect, it } from "vitest";
import type { Context } from "../context";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { HELD, waitingForLocks } from "../testing/moment";
import { facts, joinWorker, type TestWorker } from "../testing/worker";
import { inTransaction, outsideTransaction } from "../transaction";
import { sweepInspections } from "./jobs";

let control: TestControlPlane;
let worker: TestWorker;
beforeAll(async () => {
  // Nobody sweeps by himself meanwhile.
  control = await testControlPlane({ HELM_LEASE_MS: "3600000" });
  worker = await joinWorker(control);
});
afterAll(() => control.stop());

const PAST = new Date(0);

function sweep(): Promise<void> {
  const { services } = control;
  const actor = { kind: "system", name: "sweeper" } as const;
  const ctx: Context = outsideTransaction({
    services,
    actor,
    requestId: "t",
    address: "local",
    log: services.log,
  });
  return inTransaction(ctx, { audited: false, publish: false }, sweepInspections);
}

async function claimed(model: string) {
  await control.as("admin").pair.register({ sourceModel: model, targetModel: model });
  const { json } = await worker.claim({ models: [model] });
  return json as { id: string; attempt: string; model: string };
}

it("leaves an inspection to the worker whose heartbeat is just being written", async () => {
  const { id, attempt } = await claimed("beats");
  await control.db.inspection.update({ where: { id }, data: { leaseExpiresAt: PAST } });
  let sweeping: Promise<void> = Promise.resolve();
  await control.db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT 1 FROM "inspection" WHERE "id" = ${id}::uuid FOR UPDATE`;
    sweeping = sweep();
    await Promise.race([waitingForLocks(control, 1), sweeping]);
    await tx.inspection.update({ where: { id }, data: { leaseExpiresAt: new Date(Date.now() + 60_000) } });
  }, HELD);
  await sweeping;
  expect((await worker.heartbeat(id, attempt)).json).toMatchObject({ action: "continue" });
});

it("ends the silent ones while a worker ends another, and neither waits for the other for ever", async () => {
  const silent = await claimed("silent");
  const ending = await claimed("ending");
  await control.db.inspection.updateMany({
    where: { id: { in: [silent.id, ending.id] } },
    data: { leaseExpiresAt: PAST, attemptNumber: 3 },
  });
  let both: Promise<unknown>[] = [];
  await control.db.$transaction(async (tx) => {
    await tx.$executeRaw`LOCK TABLE "pair_registration" IN ACCESS EXCLUSIVE MODE`;
    both = [sweep()];
    await waitingForLocks(control, 1);
    both.push(
      worker.finish(ending.id, { attempt: ending.attempt, outcome: "inspected", facts: facts("ending") }),
    );
    await waitingForLocks(control, 2);
  }, HELD);
  const [, finished] = (await Promise.all(both)) as [undefined, { status: number }];
  // Who came first: the worker with its facts, or the sweep, which the worker is then told of.
  expect([200, 409]).toContain(finished.status);
  const rows = await control.db.pairRegistration.findMany({
    where: { state: "PENDING" },
    include: { sourceInspection: true },
  });
  expect(
    rows.filter(({ sourceInspection }) => !["QUEUED", "RUNNING"].includes(sourceInspection.state)),
  ).toEqual([]);
});
