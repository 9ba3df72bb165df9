import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { judgeTable } from "../testing/judge";
import { outcomes, whileWritersWait } from "../testing/moment";
import { joinWorker, registerPair } from "../testing/worker";

let control: TestControlPlane;
let pairId: string;
beforeAll(async () => {
  control = await testControlPlane();
  pairId = (await registerPair(control, await joinWorker(control), "pilot", "target")).pairId ?? "";
});
afterAll(() => control.stop());

const admin = () => control.as("admin");
const bring = async (seed: number) => {
  const { weights } = await weightsOf();
  return admin().judge.import({ table: judgeTable(seed, undefined, { weights }) });
};
const weightsOf = async () => {
  const pair = await control.db.pair.findUniqueOrThrow({
    where: { id: pairId },
    include: { source: true, target: true },
  });
  return { weights: { source: pair.source.weightsSha256, target: pair.target.weightsSha256 } };
};
const create = (name: string, id: string) =>
  admin().route.create({
    name,
    pairId,
    judge: { meanLogprob: -1, minLogprob: -3 },
    streaming: "buffer",
    judgeTable: { id, by: { escalation_rate: 0.3 } },
  });

it("keeps a table that a route takes at that moment, and says which one", async () => {
  const { id } = await bring(1);
  let calls: Promise<unknown>[] = [];
  await whileWritersWait(control, "Route", async (waiting) => {
    calls = [create("takes-it", id)];
    await waiting(1);
    calls.push(admin().judge.remove({ id }));
    await Promise.race([waiting(2), outcomes(calls.slice(1))]);
  });
  expect(await outcomes(calls)).toEqual(["done", "CONFLICT"]);
  await expect(admin().judge.remove({ id })).rejects.toThrow(/takes-it judges by this table/);
});

it("gives a route no table that is removed at that moment, and says so", async () => {
  const { id } = await bring(2);
  let calls: Promise<unknown>[] = [];
  await whileWritersWait(control, "RoutingSnapshot", async (waiting, tx) => {
    await tx.$executeRaw`LOCK TABLE "access_list_version" IN ACCESS EXCLUSIVE MODE`;
    calls = [admin().judge.remove({ id })];
    // It is gone, but for the commit.
    await waiting(1);
    calls.push(create("comes-late", id));
    await waiting(2);
  });
  expect(await outcomes(calls)).toEqual(["done", "NOT_FOUND"]);
});
