import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { driftOf } from "../testing/drift";
import { joinWorker, registerPair, sha256, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
const up = randomBytes(64);
const down = randomBytes(64);

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  const reverse = (await registerPair(control, worker, "target", "pilot")).pairId ?? "";
  for (const [pair, bytes] of [
    [pairId, up],
    [reverse, down],
  ] as const) {
    await control.as("operator").calibration.start({ pairId: pair, device: "cpu" });
    await worker.run(bytes, { share: 1 });
  }
});
afterAll(() => control.stop());

it("is stored with both mappers and comes back with its turns", async () => {
  const recorded = await control.as("operator").drift.record(driftOf(sha256(up), sha256(down)));
  expect(recorded.pairId).toBe(pairId);
  const [row] = await control.as("viewer").drift.list({ pairId });
  expect(row).toMatchObject({
    id: recorded.id,
    mapper: { sha256: sha256(up), state: "ACTIVE" },
    reverseMapper: { sha256: sha256(down) },
    developmentOnly: true,
  });
  expect(row?.result.carries.new.map(({ direction }) => direction)).toEqual(["up", "down", "up", "down"]);
  await expect(control.as("operator").drift.record(driftOf(sha256(up), sha256(down)))).rejects.toMatchObject({
    code: "CONFLICT",
  });
});

it("refuses two mappers of one direction, unknown ones, and turns out of step", async () => {
  const record = (drift: ReturnType<typeof driftOf>) => control.as("operator").drift.record(drift);
  const message = expect.stringContaining("not of a pair and its reverse");
  await expect(record(driftOf(sha256(up), sha256(up)))).rejects.toMatchObject({ message });
  await expect(record(driftOf("0".repeat(64), sha256(down)))).rejects.toMatchObject({ code: "NOT_FOUND" });
  const turns = driftOf(sha256(up), sha256(down)).carries.new.map((turn) => ({
    ...turn,
    direction: "up" as const,
  }));
  await expect(record(driftOf(sha256(up), sha256(down), { carries: { new: turns } }))).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
});
