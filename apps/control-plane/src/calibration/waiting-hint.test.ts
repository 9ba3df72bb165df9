import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair } from "../testing/worker";
import { inTransaction, outsideTransaction } from "../transaction";
import { refreshWaiting } from "./waiting";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "3600000" });
});
afterAll(() => control.stop());

it("pages are told that a reason changed once it stands, and not before: they would read the old one and hear no more", async () => {
  const { pairId } = await registerPair(control, await joinWorker(control), "pilot", "target");
  const { id } = await control.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
  const { services } = control;
  const hint = vi.spyOn(services.hub, "hint");
  const actor = { kind: "system", name: "sweeper" } as const;
  const ctx = outsideTransaction({ services, actor, requestId: "t", address: "local", log: services.log });
  const told = () => hint.mock.calls.filter(([topic]) => topic === "calibrations").length;
  await inTransaction(ctx, { audited: false, publish: false }, async (inner) => {
    // In here, so that the sweeper does not see it first.
    await inner.db.calibration.update({ where: { id }, data: { waitingReason: "an old reason" } });
    await refreshWaiting(inner);
    expect(told()).toBe(0);
  });
  expect(told()).toBe(1);
});
