import { RoutingSnapshot } from "@helm/contracts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withPassword } from "./auth/password";
import { publishAccessList } from "./snapshot/publish-access-list";
import { publishSnapshot } from "./snapshot/publish-snapshot";
import { type TestControlPlane, testControlPlane } from "./testing/control-plane";
import { joinNode } from "./testing/node";
import { addPerson } from "./testing/people";
import { playMutations, type Stage, type Told } from "./testing/random-mutations";
import { joinWorker, registerPair } from "./testing/worker";
import { inTransaction, outsideTransaction } from "./transaction";

const SEED = Number(process.env.HELM_TEST_SEED ?? 20_261_130);
const LANES = 6;
const EACH = Number(process.env.HELM_TEST_STEPS ?? 30);

let control: TestControlPlane;
let told: Told[];
beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "3600000" });
  const stage: Stage = { control, workers: [], pairIds: [], machine: "a".repeat(32) };
  const first = await joinWorker(control);
  const { token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
  stage.workers = [first, await joinWorker(control, token)];
  for (const [source, target] of [
    ["pilot", "target"],
    ["target", "pilot"],
    ["target", "target"],
  ] as const)
    stage.pairIds.push((await registerPair(control, first, source, target)).pairId ?? "");
  await joinNode(control, "n0", { machine: stage.machine });
  for (let i = 0; i < 3; i++) await addPerson(control, "admin");
  told = await playMutations(stage, SEED, LANES, EACH);
});
afterAll(() => control.stop());

it("tells nobody of the inside, of another's transaction, or of a database that has too much to do", () => {
  const said = told.filter(({ code }) => !/^(done|[A-Z_]+)$/.test(code) || UNFIT.has(code));
  expect(said).toEqual([]);
  // The seed plays most of it for real.
  expect(told.filter(({ code }) => code === "done").length).toBeGreaterThan(told.length / 3);
});
const UNFIT = new Set(["INTERNAL", "RACE", "DATABASE_BUSY", "DATABASE_DOWN"]);

it("leaves a row of the audit for what was done, and none for what was refused", async () => {
  const rows = await control.db.auditEntry.findMany({ select: { requestId: true } });
  const written = new Set(rows.map(({ requestId }) => requestId));
  expect(told.filter(({ code, requestId }) => code !== "done" && written.has(requestId))).toEqual([]);
  expect(
    told.filter(({ code, requestId }) => code === "done" && written.has(requestId)).length,
  ).toBeGreaterThan(30);
});

it("loses no edit: every revision of a row stands in one audit row, which begins where the one before ended", async () => {
  const rows = await control.db.auditEntry.findMany({
    where: { entity: { in: ["setting", "tenant", "route", "person"] } },
    orderBy: [{ at: "asc" }, { id: "asc" }],
  });
  const steps = new Map<string, number[][]>();
  for (const { entity, entityId, before, after } of rows) {
    const [from, to] = [before, after].map((side) => (side as { revision?: number } | null)?.revision);
    if (from && to)
      steps.set(`${entity} ${entityId}`, [...(steps.get(`${entity} ${entityId}`) ?? []), [from, to]]);
  }
  expect(steps.size).toBeGreaterThan(2);
  for (const [row, taken] of steps) {
    const sorted = taken.sort(([a = 0], [b = 0]) => a - b);
    expect([row, sorted]).toEqual([row, sorted.map(([from = 0]) => [from, from + 1])]);
    expect(new Set(sorted.map(([from]) => from)).size).toBe(sorted.length);
  }
});

it("has every registration decided, or waiting for an inspection that is open", async () => {
  const pending = await control.db.pairRegistration.findMany({
    where: { state: "PENDING" },
    include: { sourceInspection: true, targetInspection: true },
  });
  const stuck = pending.filter(({ sourceInspection, targetInspection }) =>
    [sourceInspection, targetInspection].every(({ state }) => state !== "QUEUED" && state !== "RUNNING"),
  );
  expect(stuck).toEqual([]);
});

it("has one attempt at work for each run that is RUNNING, and none for another; nodes are parked for those alone", async () => {
  const runs = await control.db.calibration.findMany({
    include: { attempts: { where: { state: "RUNNING" } } },
  });
  const wrong = runs.filter(({ state, attempt, attempts }) =>
    state === "RUNNING" ? attempts.length !== 1 || attempts[0]?.number !== attempt : attempts.length > 0,
  );
  expect(wrong).toEqual([]);
  expect(
    await control.db.nodePark.findMany({ where: { calibration: { state: { not: "RUNNING" } } } }),
  ).toEqual([]);
});

it("has a pair ELIGIBLE where a mapper of it is active, and every mapper that may be used has its file", async () => {
  const pairs = await control.db.pair.findMany({ include: { mappers: { where: { state: "ACTIVE" } } } });
  expect(pairs.filter(({ status, mappers }) => (status === "ELIGIBLE") !== (mappers.length === 1))).toEqual(
    [],
  );
  const usable = await control.db.mapper.findMany({
    where: { state: { not: "RETIRED" } },
    include: { artifact: true },
    omit: { manifest: true },
  });
  expect(usable.filter(({ artifact }) => artifact.deletedAt !== null)).toEqual([]);
  for (const { sha256 } of usable) expect(await control.services.artifacts.size(sha256)).not.toBeNull();
});

it("leaves somebody who can sign in and do everything, no key of an archived tenant, and one successor of a key", async () => {
  const admin = { role: "admin", disabledAt: null, accounts: withPassword } as const;
  expect(await control.db.user.count({ where: admin })).toBeGreaterThan(0);
  const archived = { tenant: { archivedAt: { not: null } }, revokedAt: null };
  expect(await control.db.apiKey.count({ where: archived })).toBe(0);
  const replaced = await control.db.apiKey.groupBy({
    by: ["replacesId"],
    where: { replacesId: { not: null } },
    _count: true,
  });
  expect(replaced.filter(({ _count }) => _count > 1)).toEqual([]);
});

it("has told nodes of everything: generations without a gap, of which the newest says what the rows say", async () => {
  const generations = await control.db.routingSnapshot.findMany({ orderBy: { generation: "asc" } });
  expect(generations.map(({ generation }) => generation)).toEqual(generations.map((_, at) => at + 1));
  const newest = generations.at(-1);
  const version = await control.db.accessListVersion.aggregate({ _max: { version: true } });
  const { services } = control;
  const actor = { kind: "system", name: "test" } as const;
  const ctx = outsideTransaction({ services, actor, requestId: "t", address: "local", log: services.log });
  const again = await inTransaction(ctx, { audited: false, publish: false }, async (inner) => [
    await publishSnapshot(inner),
    await publishAccessList(inner),
  ]);
  expect(again).toEqual([newest?.generation, version._max.version]);
  const { pairs } = RoutingSnapshot.parse(JSON.parse(newest?.document ?? ""));
  const named = pairs.flatMap(({ mapper_sha256 }) => mapper_sha256 ?? []);
  const retired = await control.db.mapper.findMany({
    where: { sha256: { in: named }, state: "RETIRED" },
    select: { id: true },
  });
  expect(retired).toEqual([]);
});
