import { randomBytes, randomUUID } from "node:crypto";
import { NodeStats } from "@helm/contracts";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Actor } from "./access/actor";
import { type TestControlPlane, testControlPlane } from "./testing/control-plane";
import { driftOf } from "./testing/drift";
import { evaluation } from "./testing/evaluation";
import { withAnswers } from "./testing/judge";
import { HELD, outcomes, waitingForLocks, whileWritersWait } from "./testing/moment";
import { joinNode } from "./testing/node";
import { joinWorker, registerPair, runEvents, sha256, type TestWorker } from "./testing/worker";
import { recordStats } from "./traffic/record-stats";
import { inTransaction, outsideTransaction } from "./transaction";

// Two that hold what the other one wants are ended by the database, and one of them is tried again: here nobody has to.
let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
const log: string[] = [];
const up = randomBytes(64);
const down = randomBytes(64);

beforeAll(async () => {
  control = await testControlPlane({ HELM_LOG_LEVEL: "warn" }, undefined, {
    write: (line) => log.push(line),
  });
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
afterEach(() => {
  expect(log.filter((line) => line.includes("tried again"))).toEqual([]);
});

/** `first` has come as far as its write to this table when `second` comes. */
async function meet(
  table: "Evaluation" | "Drift" | "JudgeTable",
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<string[]> {
  let calls: Promise<unknown>[] = [];
  await whileWritersWait(control, table, async (waiting) => {
    calls = [first()];
    await waiting(1);
    calls.push(second());
    await waiting(2);
  });
  return outcomes(calls);
}

it("a score is recorded for a mapper that is retired at that moment", async () => {
  await control.as("operator").calibration.start({ pairId, device: "cpu" });
  const bytes = randomBytes(64);
  await worker.run(bytes, { share: 1 });
  const { id } = await control.db.mapper.findFirstOrThrow({ where: { sha256: sha256(bytes) } });
  const met = await meet(
    "Evaluation",
    () => control.as("operator").evaluation.record(evaluation(sha256(bytes))),
    () => control.as("admin").mapper.retire({ id }),
  );
  expect(met).toEqual(["done", "done"]);
});

it("two measurements of two mappers back to back, each of which begins with the other's end", async () => {
  const operator = control.as("operator");
  const met = await meet(
    "Drift",
    () => operator.drift.record(driftOf(sha256(up), sha256(down))),
    () => operator.drift.record(driftOf(sha256(down), sha256(up))),
  );
  expect(met).toEqual(["done", "done"]);
});

it("a judge is fitted on a run that ends at that moment", async () => {
  const { id: calibrationId } = await control.as("operator").calibration.start({ pairId, device: "cpu" });
  const { json: job } = await worker.claim();
  const bytes = randomBytes(64);
  await worker.events(job.id, job.attempt, withAnswers()(runEvents(bytes, { share: 1 })));
  await worker.upload(job.id, job.attempt, bytes);
  const end = { attempt: job.attempt, outcome: "fitted", artifact_sha256: sha256(bytes) };
  let status = 0;
  const met = await meet(
    "JudgeTable",
    () => control.as("operator").judge.fit({ calibrationId, streaming: "window", window: 32 }),
    async () => {
      status = (await worker.finish(job.id, end)).status;
    },
  );
  expect([met, status]).toEqual([["done", "done"], 200]);
});

it("a tenant is archived while a node reports that its keys were used", async () => {
  const admin = control.as("admin");
  const tenant = await admin.tenant.create({ name: "archived" });
  const other = await admin.tenant.create({ name: "other" });
  const addKey = (prefix: string, tenantId: string) =>
    control.db.apiKey.create({
      data: { tenantId, prefix, name: "k", hash: randomUUID(), createdBy: "test" },
    });
  // Written last to first, so that who goes by the table's own order meets who goes by the names.
  await addKey("hlm_c", tenant.id);
  await addKey("hlm_a", tenant.id);
  const { id: between } = await addKey("hlm_b", other.id);
  const node = await joinNode(control, "reporting");
  const actor: Actor = { kind: "host", hostKind: "node", id: node.id, name: "reporting" };
  const { services } = control;
  const ctx = outsideTransaction({ services, actor, requestId: "t", address: "local", log: services.log });
  const at = new Date().toISOString();
  const keys = ["hlm_a", "hlm_b", "hlm_c"].map((prefix) => ({ prefix, last_used_at: at }));
  const input = NodeStats.parse({ id: randomUUID(), since: at, until: at, rows: [], keys });
  let calls: Promise<unknown>[] = [];
  await control.db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT 1 FROM "api_key" WHERE "id" = ${between}::uuid FOR UPDATE`;
    const step = { audited: false, publish: false };
    calls = [inTransaction(ctx, step, (inner) => recordStats({ ctx: inner, input }))];
    await waitingForLocks(control, 1);
    calls.push(admin.tenant.archive({ id: tenant.id, revision: tenant.revision }));
    await waitingForLocks(control, 2);
  }, HELD);
  expect(await outcomes(calls)).toEqual(["done", "done"]);
});
