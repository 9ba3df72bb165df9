import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
});
afterAll(() => control.stop());

const viewer = () => control.as("viewer");

it("adds up one mapper a direction: the file where there is one, the formula where there is none", async () => {
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  await control.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
  await worker.run(randomBytes(64), { share: 1 });
  const { directions, all, held, models, assumed } = await viewer().pair.storage();
  expect(models.map(({ family }) => family)).toEqual(["Qwen3", "Qwen3"]);
  const of = (source: string) => directions.find((one) => one.source === source);
  expect(of("pilot")).toMatchObject({ basis: "measured", bytes: 64, pairId });
  // target -> pilot: 28 layers, 4 source layers of 8 x 128; a CPU keeps float32.
  const bytes = 28 * 2 * (4 * 1024 * 1024 + 1024) * 4;
  expect(assumed.weights).toBe("float32");
  expect(of("target")).toMatchObject({ basis: "computed", bytes, pairId: null });
  expect(all).toEqual({
    possible: 2,
    impossible: 0,
    measured: 1,
    computed: 1,
    missing: 0,
    bytes: 64 + bytes,
  });
  expect(held).toEqual({ mappers: 1, files: 1, bytes: 64 });
});

it("finds a refused registration again, with every cause and who asked", async () => {
  const refused = await registerPair(control, worker, "pilot", "odd");
  expect(refused.state).toBe("REFUSED");
  const { rows } = await viewer().pair.registrations({});
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ sourceModel: "pilot", targetModel: "odd", state: "REFUSED" });
  expect(rows[0]?.causes.map(({ cause }) => cause)).toContain("kv_heads");
  expect(rows[0]?.requestedBy).not.toBe("");
  expect((await viewer().pair.list()).map(({ name }) => name)).toEqual(["pilot -> target"]);
  const audit = await viewer().audit.list({ entity: "registration", verb: "pair.refused" });
  expect(audit.rows).toHaveLength(1);
});

it("says of a pair which gate holds for it and which would without", async () => {
  const [pair] = await viewer().pair.list();
  await control.db.pair.update({ where: { id: pair?.id }, data: { gate: 0.98 } });
  expect(await viewer().pair.get({ id: pair?.id ?? "" })).toMatchObject({
    gate: 0.98,
    ownGate: 0.98,
    serverGate: 0.9,
    family: "Qwen3",
  });
});
