import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conflictFrom } from "../testing/conflict-from";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

describe("two administrators on one row", () => {
  it("tells the later one who changed what since the revision that was held, and stores nothing of it", async () => {
    const admin = control.as("admin");
    const held = await admin.setting.get();
    await admin.setting.update({ gate: 0.93, revision: held.revision });
    await admin.setting.update({ gate: 0.95, gateOn: "point", revision: held.revision + 1 });
    const details = await conflictFrom(admin.setting.update({ gate: 0.5, revision: held.revision }));
    expect(details).toMatchObject({
      revision: held.revision + 2,
      changedBy: "admin@example.com",
      current: { gate: 0.95, gateOn: "point" },
    });
    expect(details.changes).toEqual([
      { field: "gate", before: 0.9, after: 0.95 },
      { field: "gateOn", before: "lower", after: "point" },
    ]);
    expect(Date.now() - new Date(details.changedAt ?? 0).getTime()).toBeLessThan(60_000);
    expect((await admin.setting.get()).gate).toBe(0.95);
    // The one that lost left no audit row: its transaction went back.
    expect(await control.db.auditEntry.count({ where: { verb: "setting.update" } })).toBe(2);
  });

  it("lets exactly one of two that write at the same moment through", async () => {
    const admin = control.as("admin");
    const tenant = await admin.tenant.create({ name: "raced" });
    const both = await Promise.allSettled(
      [true, false].map((enabled) =>
        admin.tenant.setEnabled({ id: tenant.id, enabled, revision: tenant.revision }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await admin.tenant.list()).find((row) => row.id === tenant.id)?.revision).toBe(2);
  });

  it("pulls the kill switch whatever stands, and asks for the revision only to release it", async () => {
    const admin = control.as("admin");
    const held = await admin.setting.get();
    await admin.setting.update({ gate: 0.9, revision: held.revision });
    const pulled = await admin.setting.setKillSwitch({ on: true });
    expect(pulled).toMatchObject({ killSwitch: true, revision: held.revision + 2 });
    await expect(admin.setting.setKillSwitch({ on: false })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const stale = await conflictFrom(admin.setting.setKillSwitch({ on: false, revision: held.revision }));
    expect(stale.changes).toContainEqual({ field: "killSwitch", before: false, after: true });
    expect((await admin.setting.setKillSwitch({ on: false, revision: pulled.revision })).killSwitch).toBe(
      false,
    );
  });

  it("keeps the access list's two ages in their order", async () => {
    const admin = control.as("admin");
    const { revision } = await admin.setting.get();
    const swapped = admin.setting.update({ helmOffAfterS: 7 * 86_400, refuseKeysAfterS: 86_400, revision });
    await expect(swapped).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(admin.setting.update({ helmOffAfterS: 60, revision })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
    expect((await admin.setting.get()).revision).toBe(revision);
  });
});
