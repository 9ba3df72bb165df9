import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { evaluation } from "../testing/evaluation";
import { facts, joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let sha256: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  await control.as("operator").calibration.start({ pairId, device: "cpu" });
  await worker.run(randomBytes(64), { share: 1 });
  sha256 = (await control.as("viewer").mapper.list({ pairId }))[0]?.sha256 ?? "";
});
afterAll(() => control.stop());

const list = () => control.as("viewer").evaluation.list({ pairId });

it("stores a result under its pair and mapper, whole, newest first, with its audit row", async () => {
  const first = evaluation(sha256);
  const second = evaluation(sha256, { limit: 20, at: "2026-11-30T11:00:00.000Z" });
  const requestId = randomUUID();
  const recorded = await control.as("operator", requestId).evaluation.record(first);
  await control.as("operator").evaluation.record(second);
  expect(recorded.pairId).toBe(pairId);
  expect((await list()).map((row) => row.result)).toEqual([second, first]);
  expect((await list())[1]).toMatchObject({
    id: recorded.id,
    mapperSha256: sha256,
    developmentOnly: true,
    recordedBy: "operator@example.com",
  });
  const audit = await control.db.auditEntry.findMany({ where: { requestId } });
  expect(audit).toMatchObject([
    {
      verb: "evaluation.record",
      entity: "evaluation",
      entityId: recorded.id,
      after: { tasks: ["helm_bundled"], accuracyRetention: 0.98, limit: null },
    },
  ]);
});

it("refuses a mapper it does not know, and stores nothing", async () => {
  const before = (await list()).length;
  const unknown = control.as("operator").evaluation.record(evaluation("0".repeat(64)));
  await expect(unknown).rejects.toMatchObject({ cause: { code: "NOT_FOUND" } });
  expect(await list()).toHaveLength(before);
});

it("refuses a result of other weights than the mapper's pair", async () => {
  const { weights } = evaluation(sha256);
  const other = facts("another").weights_sha256 ?? "";
  for (const changed of [
    { source: other, target: weights.target },
    { source: weights.target, target: weights.source },
  ]) {
    const refused = control.as("operator").evaluation.record(evaluation(sha256, { weights: changed }));
    await expect(refused).rejects.toMatchObject({ cause: { code: "ARTIFACT_MISMATCH" } });
  }
});

it("knows the pair by its weights, whatever a host calls the folders", async () => {
  const renamed = evaluation(sha256, { pair: { source: "my-pilot", target: "my-target" } });
  expect((await control.as("operator").evaluation.record(renamed)).pairId).toBe(pairId);
});

it("refuses numbers that cannot be", async () => {
  const [task] = evaluation(sha256).tasks;
  if (!task) throw new Error("no task");
  const wrong = evaluation(sha256, { tasks: [{ ...task, n: 0 }] });
  await expect(control.as("operator").evaluation.record(wrong)).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
});
