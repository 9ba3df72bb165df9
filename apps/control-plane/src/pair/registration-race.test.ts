import type { HelmError } from "@helm/contracts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { HELD, outcomes, waitingForLocks, whileWritersWait } from "../testing/moment";
import { facts, joinWorker, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
});
afterAll(() => control.stop());

/** Who is told that no connection was free in time asks again, as it was told to. */
async function register(sourceModel: string, targetModel: string): Promise<unknown> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await control.as("admin").pair.register({ sourceModel, targetModel });
    } catch (error) {
      if (codeOf(error) !== "DATABASE_BUSY" || tries === 5) throw error;
    }
  }
}

const codeOf = (error: unknown) => ((error as Error).cause as HelmError | undefined)?.code;

/** What came of several that were sent at one moment: how many went through, and the codes of the others. */
async function tally(asked: Promise<unknown>[]) {
  const settled = await Promise.allSettled(asked);
  const refused = settled.filter((one) => one.status === "rejected");
  const codes = refused.map(({ reason }) => codeOf(reason));
  return { through: settled.length - refused.length, codes };
}

it("one pair registered by several at one moment is one registration, and the others are told of it", async () => {
  for (let round = 0; round < 4; round += 1) {
    const [source, target] = [`same-${round}-a`, `same-${round}-b`];
    const { through, codes } = await tally(Array.from({ length: 5 }, () => register(source, target)));
    expect(through).toBe(1);
    expect(codes).toEqual(["CONFLICT", "CONFLICT", "CONFLICT", "CONFLICT"]);
    expect(await control.db.pairRegistration.count({ where: { sourceModel: source } })).toBe(1);
    expect(await control.db.inspection.count({ where: { model: { in: [source, target] } } })).toBe(2);
  }
});

it("a pair and its reverse at one moment do not wait for each other, and share their inspections", async () => {
  for (let round = 0; round < 6; round += 1) {
    const [one, other] = [`turn-${round}-a`, `turn-${round}-b`];
    const asked = [register(one, other), register(other, one), register(one, one), register(other, other)];
    expect(await tally(asked)).toEqual({ through: 4, codes: [] });
    expect(await control.db.inspection.count({ where: { model: { in: [one, other] } } })).toBe(2);
  }
});

it("a ring of pairs at one moment is registered whole, and no pair stands twice", async () => {
  const names = ["ring-a", "ring-b", "ring-c", "ring-d"];
  const directions = names.flatMap((source) =>
    names.filter((name) => name !== source).map((target) => [source, target] as const),
  );
  const asked = [...directions, ...directions].map(([source, target]) => register(source, target));
  const { through, codes } = await tally(asked);
  expect(through).toBe(directions.length);
  expect(new Set(codes)).toEqual(new Set(["CONFLICT"]));
  await inspectAtOnce(names);
  const pairs = await control.as("viewer").pair.list();
  const made = pairs.filter(({ source }) => source.id.startsWith("ring-")).map(({ name }) => name);
  expect(made.sort()).toEqual(directions.map(([source, target]) => `${source} -> ${target}`).sort());
});

it("inspections that end while a registration joins them decide that registration too", async () => {
  await register("ends-a", "never-read");
  await register("ends-b", "never-read");
  const jobs = await Promise.all(["ends-a", "ends-b"].map((model) => worker.claim({ models: [model] })));
  let joining: Promise<unknown> = Promise.resolve();
  let ending: Promise<{ status: number }[]> = Promise.resolve([]);
  await whileWritersWait(control, "PairRegistration", async (waiting) => {
    joining = register("ends-a", "ends-b");
    // It has found both inspections open, and is not written yet.
    await waiting(1);
    ending = Promise.all(jobs.map(({ json }) => finish(json)));
    // Both ends wait for it; or, which is the fault, they are through without it.
    await Promise.race([waiting(3), ending]);
  });
  await joining;
  expect((await ending).map(({ status }) => status)).toEqual([200, 200]);
  const where = { sourceModel: "ends-a", targetModel: "ends-b" };
  expect((await control.db.pairRegistration.findFirstOrThrow({ where })).state).toBe("REGISTERED");
});

it("whoever registers a pair at the moment in which it is decided is told that it is there", async () => {
  await register("decided-a", "decided-b");
  const { facts: known } = await control.db.model.findFirstOrThrow();
  const model = (name: string) => ({ name, facts: known ?? {}, inspectedAt: new Date() });
  let asked: Promise<string[]> = Promise.resolve([]);
  await control.db.$transaction(async (tx) => {
    // Who looks for a registration waits; who looks for a pair does not.
    await tx.$executeRaw`LOCK TABLE "pair_registration" IN ACCESS EXCLUSIVE MODE`;
    asked = outcomes([register("decided-a", "decided-b")]);
    await waitingForLocks(control, 1);
    const [source, target] = [model("decided-a"), model("decided-b")].map((data) => ({ create: data }));
    const pair = await tx.pair.create({
      data: { control: false, source: source ?? {}, target: target ?? {} },
    });
    const decided = { state: "REGISTERED", pairId: pair.id } as const;
    await tx.pairRegistration.updateMany({ where: { sourceModel: "decided-a" }, data: decided });
  }, HELD);
  expect(await asked).toEqual(["PAIR_EXISTS"]);
});

it("gives a route no name that a model is about to have, nor a model the name of a route that is being made", async () => {
  const admin = control.as("admin");
  const { id: pairId } = await control.db.pair.findFirstOrThrow();
  const create = (name: string) =>
    admin.route.create({ name, pairId, judge: { meanLogprob: -1, minLogprob: -3 } });
  await register("soon-a-model", "soon-a-model");
  expect(await outcomes([create("soon-a-model")])).toEqual(["BAD_REQUEST"]);
  let calls: Promise<unknown>[] = [];
  await whileWritersWait(control, "AuditEntry", async (waiting) => {
    calls = [create("at-once")];
    await waiting(1);
    calls.push(register("at-once", "at-once"));
    await waiting(2);
  });
  expect(await outcomes(calls)).toEqual(["done", "BAD_REQUEST"]);
});

/** All inspections end at one moment: whichever is the last for a pair, the pair is decided once. */
async function inspectAtOnce(models: string[]): Promise<void> {
  const jobs = await Promise.all(models.map(() => worker.claim({ models })));
  const finished = await Promise.all(jobs.map(({ json }) => finish(json)));
  expect(finished.map(({ status }) => status)).toEqual(models.map(() => 200));
}

const finish = ({ id, attempt, model }: { id: string; attempt: string; model: string }) =>
  worker.finish(id, { attempt, outcome: "inspected", facts: facts(model) });
