import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair } from "../testing/worker";

let control: TestControlPlane;
let attempt: string;

beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "20000" });
  const worker = await joinWorker(control);
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  await control.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
  attempt = (await worker.claim()).json.attempt;
});
afterAll(() => control.dropDatabase());

const leaseEnd = async () =>
  (await control.db.calibrationAttempt.findUniqueOrThrow({ where: { id: attempt } })).leaseExpiresAt;

it("leaves leases alone where another control plane was there all the time: the worker could renew them", async () => {
  const before = await leaseEnd();
  const beside = await control.restart({ leaseMs: 600_000 });
  expect(await leaseEnd()).toEqual(before);
  await beside.stop();
});

it("gives every lease a full period after a restart, and loses no running job by it", async () => {
  await control.stopServer();
  const again = await control.restart({ leaseMs: 600_000 });
  expect((await leaseEnd()).getTime()).toBeGreaterThan(Date.now() + 300_000);
  const { state } = await control.db.calibration.findFirstOrThrow();
  expect(state).toBe("RUNNING");
  await again.stop();
});
