import { randomBytes, randomUUID } from "node:crypto";
import type { Evaluation } from "@helm/contracts";
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
  sha256 = (await control.as("viewer").mapper.list({ pairId })).rows[0]?.sha256 ?? "";
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
      after: { tasks: ["helm_bundled"], accuracyRetention: 0.88 / 0.9, limit: null },
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

const good = evaluation("0".repeat(64));
const [task] = good.tasks;
if (!task || !good.mean) throw new Error("no task");
const { mean } = good;
const kept = task.accuracy_retention;
if (!kept) throw new Error("no accuracy retention");
const rows = (changes: Partial<typeof task>) => ({ tasks: [{ ...task, ...changes }] });

it.each<[string, Partial<Evaluation>]>([
  ["no document", rows({ n: 0 })],
  ["a CPU that is no development", { device: "cpu", development: false }],
  ["more right answers than documents", rows({ transferred: 57, accuracy_retention: null })],
  ["another ratio than that of its shares", rows({ accuracy_retention: { ...kept, value: 0.99 } })],
  ["an interval beside its value", rows({ accuracy_retention: { ...kept, low: 0.99 } })],
  ["an interval upside down", rows({ above_pilot: { value: 0.15, low: 0.3, high: 0.1 } })],
  ["another difference than that of its shares", rows({ above_pilot: { value: 0.9, low: 0, high: 1 } })],
  ["an accuracy retention of a perplexity", rows({ higher_is_better: false })],
  ["a mean of other rows", { mean: { ...mean, value: 1 } }],
  ["a mean of more tasks than there are", { mean: { ...mean, tasks: 400 } }],
  ["no mean where there is one", { mean: null }],
  ["a row twice", { tasks: [task, task], mean: { ...mean, tasks: 2 } }],
  [
    "versions without end",
    { versions: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`v${i}`, "1"])) },
  ],
])("refuses numbers that cannot be: %s", async (_, changes) => {
  const wrong = control.as("operator").evaluation.record({ ...evaluation(sha256), ...changes });
  await expect(wrong).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

it("works out itself what follows: the warnings, and development with a mapper that is", async () => {
  const worse = { ...task, pilot: 0.89, above_pilot: { value: -0.01, low: -0.02, high: -0.001 } };
  const forged = evaluation(sha256, { device: "cuda", development: false, tasks: [worse], warnings: [] });
  await control.as("operator").evaluation.record(forged);
  const [stored] = await list();
  expect(stored).toMatchObject({ developmentOnly: true, result: { development: true } });
  expect(stored?.result.warnings).toEqual([
    {
      code: "ACCURACY_BELOW_PILOT",
      task: "helm_bundled",
      message:
        "helm_bundled: the transferred target solves 0.880, the pilot alone 0.890; the interval of the difference is [-0.020, -0.001]",
    },
  ]);
  const unclear = { ...worse, above_pilot: { ...worse.above_pilot, high: 0.01 } };
  await control.as("operator").evaluation.record(evaluation(sha256, { tasks: [unclear] }));
  expect((await list())[0]?.result.warnings).toEqual([]);
  const invented = [{ code: "ACCURACY_BELOW_PILOT" as const, task: "helm_bundled", message: "worse" }];
  await control
    .as("operator")
    .evaluation.record(evaluation(sha256, { warnings: invented, at: "2026-11-30T11:30:00.000Z" }));
  expect((await list())[0]?.result.warnings).toEqual([]);
});

it("takes the same result once, however often and however many at a time", async () => {
  const result = evaluation(sha256, { at: "2026-11-30T12:00:00.000Z" });
  const before = await control.db.evaluation.count();
  const record = () => control.as("operator").evaluation.record(result);
  const first = await Promise.allSettled([record(), record(), record()]);
  expect(first.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await expect(record()).rejects.toMatchObject({ code: "CONFLICT", cause: { code: "CONFLICT" } });
  expect(await control.db.evaluation.count()).toBe(before + 1);
});

it("lists page by page", async () => {
  const all = (await list()).map(({ id }) => id);
  const page = async (before?: string) =>
    (await control.as("viewer").evaluation.list({ pairId, limit: 2, before })).map(({ id }) => id);
  expect(all.length).toBeGreaterThan(4);
  expect(await page()).toEqual(all.slice(0, 2));
  expect(await page(all[1])).toEqual(all.slice(2, 4));
  expect(await page(all.at(-1))).toEqual([]);
  // A row of an older server whose numbers would be refused today hides itself, not the others.
  const {
    id,
    createdAt: _,
    ...row
  } = await control.db.evaluation.findFirstOrThrow({ where: { id: all[0] } });
  await control.db.evaluation.create({ data: { ...row, result: { v: 1 } } });
  expect(await page()).toEqual([id]);
  const everything = control.as("viewer").evaluation.list({ pairId, limit: 51 });
  await expect(everything).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
