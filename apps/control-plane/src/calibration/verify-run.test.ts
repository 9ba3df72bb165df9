import { randomBytes } from "node:crypto";
import type { CalibrationEvent } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { facts, joinWorker, registerPair, runEvents, sha256, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let forward: string;
let reverse: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  forward = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  reverse = (await registerPair(control, worker, "target", "pilot")).pairId ?? "";
});
afterAll(() => control.stop());

type Started = Extract<CalibrationEvent, { type: "started" }>;

const start = (pairId: string, more: object = {}) =>
  control.as("operator").calibration.start({ pairId, device: "cpu", ...more });
const get = (id: string) => control.as("viewer").calibration.get({ id });
const changed = (change: (event: Started) => object) => (events: CalibrationEvent[]) =>
  events.map((event) =>
    event.type === "started" ? ({ ...event, ...change(event) } as CalibrationEvent) : event,
  );
const nothingKept = async (id: string, code: string) =>
  expect(await get(id)).toMatchObject({
    state: "FAILED",
    verdict: null,
    assessment: null,
    mapperId: null,
    error: { code, exitCode: 1 },
  });

describe("a worker's word against what was asked", () => {
  it("without a start nothing is concluded", async () => {
    const { id } = await start(forward);
    await worker.run(randomBytes(64), {
      share: 1,
      edit: (events) => events.filter(({ type }) => type !== "started"),
    });
    await nothingKept(id, "START_MISSING");
  });

  it.each<[string, (event: Started) => object]>([
    ["another method", () => ({ method: "ridge" })],
    ["another k", ({ k }) => ({ k: k + 1 })],
    [
      "other weights of the source",
      ({ pair }) => ({ pair: { ...pair, source: facts("pilot", { weights_sha256: "f".repeat(64) }) } }),
    ],
    ["other weights of the target", ({ pair }) => ({ pair: { ...pair, target: pair.source } })],
    [
      "no digest of the weights",
      ({ pair }) => ({ pair: { ...pair, target: facts("target", { weights_sha256: null }) } }),
    ],
    [
      "another tokenizer",
      ({ pair }) => ({ pair: { ...pair, target: facts("target", { tokenizer: "another" }) } }),
    ],
  ])("%s is refused", async (_, change) => {
    const { id } = await start(forward, { method: "renorm-attention", k: 8 });
    await worker.run(randomBytes(64), { share: 1, edit: changed(change) });
    await nothingKept(id, "RUN_MISMATCH");
    expect((await get(id)).method).toBe("renorm-attention");
  });

  it("a second start that says something else is refused with the first", async () => {
    const { id } = await start(forward, { method: "renorm" });
    const twice = (events: CalibrationEvent[]) => [
      ...events.slice(0, 1),
      ...changed(() => ({ method: "ridge" }))(events.slice(0, 1)),
      ...events.slice(1),
    ];
    await worker.run(randomBytes(64), { share: 1, edit: twice });
    await nothingKept(id, "RUN_MISMATCH");
  });
});

describe("development", () => {
  const finishAs = async (id: string, attempt: string, asked: "cpu" | "cuda", device: string) => {
    await control.db.calibration.update({ where: { id }, data: { device: asked } });
    const artifact = randomBytes(64);
    await worker.events(id, attempt, runEvents(artifact, { share: 0.9, device }));
    await worker.upload(id, attempt, artifact);
    await worker.finish(id, { attempt, outcome: "fitted", artifact_sha256: sha256(artifact) });
    return get(id);
  };

  it.each<[string, "cpu" | "cuda", string]>([
    ["the run was asked for the CPU", "cpu", "cuda"],
    ["the host has no accelerator", "cuda", "cuda"],
    ["the job says CPU", "cuda", "cpu"],
  ])("holds where %s", async (_, asked, said) => {
    const { id } = await start(forward);
    const job = (await worker.claim()).json;
    const found = await finishAs(id, job.attempt, asked, said);
    expect(found).toMatchObject({ state: "SUCCEEDED", developmentOnly: true });
    const mapper = await control.db.mapper.findUniqueOrThrow({ where: { calibrationId: id } });
    expect(mapper.developmentOnly).toBe(true);
  });

  it("does not hold where run, host and job all have an accelerator", async () => {
    const device = { device: "cuda", hardware: "allowed" } as const;
    const { id } = await start(forward);
    const job = (await worker.claim()).json;
    await control.db.host.update({ where: { id: worker.id }, data: device });
    expect(await finishAs(id, job.attempt, "cuda", "cuda")).toMatchObject({
      state: "SUCCEEDED",
      developmentOnly: false,
    });
    await control.db.host.update({ where: { id: worker.id }, data: { device: "cpu", hardware: "none" } });
  });
});

describe("the mapper", () => {
  const finish = async (pairId: string, named: Buffer, uploaded: Buffer | null) => {
    const { id } = await start(pairId);
    const job = (await worker.claim()).json;
    const asked = { source: job.source_model, target: job.target_model, method: "ridge", k: job.k };
    await worker.events(id, job.attempt, runEvents(named, { share: 0.9, asked }));
    if (uploaded) await worker.upload(id, job.attempt, uploaded);
    await worker.finish(id, { attempt: job.attempt, outcome: "fitted", artifact_sha256: sha256(named) });
    return id;
  };

  it("of another run is nobody's who did not bring it, and of another pair nobody's at all", async () => {
    const artifact = randomBytes(64);
    expect((await get(await finish(forward, artifact, artifact))).state).toBe("SUCCEEDED");
    await nothingKept(await finish(reverse, artifact, null), "ARTIFACT_FOREIGN");
    await nothingKept(await finish(forward, artifact, null), "ARTIFACT_FOREIGN");
    await nothingKept(await finish(reverse, artifact, artifact), "ARTIFACT_FOREIGN");
    // A rerun that fits the very same bytes brings them again.
    expect((await get(await finish(forward, artifact, artifact))).state).toBe("SUCCEEDED");
  });

  it("that is here already is brought by its bytes, not by its name", async () => {
    const artifact = randomBytes(64);
    const { id } = await start(forward);
    const job = (await worker.claim()).json;
    expect((await worker.upload(id, job.attempt, artifact)).status).toBe(200);
    expect((await worker.upload(id, job.attempt, Buffer.alloc(64), sha256(artifact))).status).toBe(422);
    await worker.finish(id, { attempt: job.attempt, outcome: "cancelled" });
  });
});
