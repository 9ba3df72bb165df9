import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { HELD, waitingForLocks } from "../testing/moment";
import { joinNode } from "../testing/node";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

const FIRST = new Date("2026-11-30T10:00:00.000Z");

it("a kill switch that meets another edit leaves a row of what it changed, and of nothing else", async () => {
  let pulling: Promise<unknown> = Promise.resolve();
  await control.db.$transaction(async (tx) => {
    await tx.setting.update({ where: { id: 1 }, data: { gate: 0.93, revision: { increment: 1 } } });
    pulling = control.as("admin").setting.setKillSwitch({ on: true });
    await waitingForLocks(control, 1);
  }, HELD);
  await pulling;
  const row = await control.db.auditEntry.findFirstOrThrow({ where: { verb: "setting.setKillSwitch" } });
  expect(row.before).toMatchObject({ gate: 0.93, killSwitch: false, revision: 2 });
  expect(row.after).toMatchObject({ gate: 0.93, killSwitch: true, revision: 3 });
});

it("what two revoke at one moment keeps the first one's time", async () => {
  const admin = control.as("admin");
  const tenant = await admin.tenant.create({ name: "t" });
  const { id: key } = await admin.key.create({ tenantId: tenant.id, name: "k" });
  const { id: host } = await joinNode(control, "n");
  let later: Promise<{ revokedAt: Date }[]> = Promise.resolve([]);
  await control.db.$transaction(async (tx) => {
    await tx.apiKey.update({ where: { id: key }, data: { revokedAt: FIRST } });
    await tx.host.update({ where: { id: host }, data: { revokedAt: FIRST } });
    later = Promise.all([admin.key.revoke({ id: key }), admin.host.revoke({ id: host })]);
    await waitingForLocks(control, 2);
  }, HELD);
  expect((await later).map(({ revokedAt }) => revokedAt)).toEqual([FIRST, FIRST]);
});
