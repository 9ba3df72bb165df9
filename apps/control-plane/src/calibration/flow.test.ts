import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, SEQUENCES, sha256, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let forward: string;
let reverse: string;
let selfPair: string;

async function register(source: string, target: string): Promise<string> {
  const { pairId } = await registerPair(control, worker, source, target);
  if (!pairId) throw new Error("not registered");
  return pairId;
}

beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "1500" });
  worker = await joinWorker(control);
  forward = await register("pilot", "target");
  reverse = await register("target", "pilot");
  selfPair = await register("target", "target");
});
afterAll(() => control.stop());

const start = async (pairId: string) =>
  (await control.as("operator").calibration.start({ pairId, device: "cpu" })).id;
const get = (id: string) => control.as("viewer").calibration.get({ id });
const pairNow = (id: string) => control.as("viewer").pair.get({ id });
const generation = async () => (await control.as("viewer").overview.helm()).configuration.generation;

describe("registration", () => {
  it("refuses an impossible pair with its causes, keeps the refusal in the audit and makes no pair", async () => {
    const refused = await registerPair(control, worker, "pilot", "odd");
    expect(refused).toMatchObject({ state: "REFUSED", pairId: null });
    expect(refused.causes.map(({ cause }) => cause)).toEqual(["kv_heads"]);
    const audit = await control.as("viewer").audit.list({ verb: "pair.refused" });
    expect(audit.rows[0]).toMatchObject({
      entity: "registration",
      entityId: refused.id,
      after: { causes: [{ cause: "kv_heads" }] },
    });
    expect(await control.db.pair.count()).toBe(3);
  });

  it("fails where a worker cannot read a model, and says what the worker said", async () => {
    const { registrationId } = await control
      .as("admin")
      .pair.register({ sourceModel: "pilot", targetModel: "gone" });
    const job = await worker.claim({ models: ["pilot", "gone"] });
    await worker.finish(job.json.id, {
      attempt: job.json.attempt,
      outcome: job.json.model === "gone" ? "failed" : "inspected",
      facts: { id: "pilot" },
      message: "gone has no config.json",
    });
    const second = await worker.claim({ models: ["pilot", "gone"] });
    await worker.finish(second.json.id, {
      attempt: second.json.attempt,
      outcome: second.json.model === "gone" ? "failed" : "inspected",
      facts: { id: "pilot" },
      message: "gone has no config.json",
    });
    expect(await control.as("viewer").pair.registration({ id: registrationId })).toMatchObject({
      state: "FAILED",
      message: "gone has no config.json",
    });
  });

  it("refuses a pair that is registered already and ids that climb", async () => {
    const admin = control.as("admin");
    await expect(admin.pair.register({ sourceModel: "pilot", targetModel: "target" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(admin.pair.register({ sourceModel: "../etc", targetModel: "target" })).rejects.toMatchObject(
      { code: "BAD_REQUEST" },
    );
  });
});

describe("a run that clears the gate", () => {
  it("goes from QUEUED to an active mapper, an ELIGIBLE pair and a new generation", async () => {
    const before = await generation();
    const id = await start(forward);
    await expect(start(forward)).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await pairNow(forward)).calibrating).toBe(id);
    const artifact = randomBytes(2048);
    const { finished } = await worker.run(artifact, { share: 1 });
    expect(finished.json).toEqual({ state: "SUCCEEDED" });
    const run = await get(id);
    expect(run).toMatchObject({
      state: "SUCCEEDED",
      verdict: "CLEARED",
      developmentOnly: true,
      percent: 100,
      attempt: 1,
    });
    expect(run.assessment).toMatchObject({ verdict: "CLEARED", retention: { value: 1, n: SEQUENCES } });
    expect(await pairNow(forward)).toMatchObject({
      status: "ELIGIBLE",
      calibrating: null,
      developmentOnly: true,
      active: { sha256: sha256(artifact), bytes: 2048, verdict: "CLEARED" },
    });
    expect(await generation()).toBe(before + 1);
    const snapshot = await control.db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } });
    const pair = JSON.parse(snapshot.document).pairs.find((row: { id: string }) => row.id === forward);
    expect(pair).toMatchObject({ mapper_sha256: sha256(artifact), refusal: null, development: true });
  });

  it("keeps the first mapper active when a second one clears, until an administrator says otherwise", async () => {
    const first = (await pairNow(forward)).active?.mapperId;
    await start(forward);
    await worker.run(randomBytes(1024), { share: 1 });
    expect((await pairNow(forward)).active?.mapperId).toBe(first);
    const second = (await control.as("viewer").mapper.list({ pairId: forward })).rows.find(
      (mapper) => mapper.state === "INACTIVE",
    );
    await control.as("admin").mapper.activate({ id: second?.id ?? "" });
    expect((await pairNow(forward)).active?.mapperId).toBe(second?.id);
  });

  it("keeps an active mapper when a rerun stays below the gate", async () => {
    await start(forward);
    await worker.run(randomBytes(1024), { share: 0.7 });
    expect(await pairNow(forward)).toMatchObject({
      status: "ELIGIBLE",
      lastScore: { verdict: "BELOW_GATE" },
    });
  });
});

describe("a run below the gate", () => {
  it("SUCCEEDED, and its pair is TRANSFER_INELIGIBLE with its score kept", async () => {
    const id = await start(reverse);
    await worker.run(randomBytes(512), { share: 0.7 });
    expect(await get(id)).toMatchObject({ state: "SUCCEEDED", verdict: "BELOW_GATE" });
    expect(await pairNow(reverse)).toMatchObject({
      status: "TRANSFER_INELIGIBLE",
      active: null,
      lastScore: { verdict: "BELOW_GATE" },
    });
    const [mapper] = (await control.as("viewer").mapper.list({ pairId: reverse })).rows;
    await expect(control.as("admin").mapper.activate({ id: mapper?.id ?? "" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });
});

describe("a run whose controls miss their bound", () => {
  it("FAILED with the control's name, without a mapper, and leaves the pair as it was", async () => {
    const id = await start(selfPair);
    const { finished } = await worker.run(randomBytes(512), { share: 1, identity: 0.9 });
    expect(finished.json).toEqual({ state: "FAILED" });
    expect(await get(id)).toMatchObject({
      state: "FAILED",
      verdict: null,
      error: { code: "IDENTITY_MISSED" },
      mapperId: null,
    });
    expect((await pairNow(selfPair)).status).toBe("NOT_CALIBRATED");
    await control.as("operator").calibration.retry({ id });
    await worker.run(randomBytes(512), { share: 1 });
    expect(await get(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2, error: null });
    expect((await pairNow(selfPair)).status).toBe("ELIGIBLE");
  });
});

describe("events", () => {
  it("are taken in order, once, and a gap is refused with the last number", async () => {
    const id = await start(reverse);
    const job = (await worker.claim()).json;
    const events = runEvents(randomBytes(8), { share: 1 });
    expect((await worker.events(id, job.attempt, events.slice(0, 3))).json).toEqual({
      ok: true,
      last_seq: 3,
    });
    expect((await worker.events(id, job.attempt, events.slice(4, 6), 5)).json).toEqual({
      ok: false,
      last_seq: 3,
      code: "GAP",
    });
    // A batch sent again together with what follows it.
    expect((await worker.events(id, job.attempt, events.slice(1, 5), 2)).json).toEqual({
      ok: true,
      last_seq: 5,
    });
    expect((await worker.events(id, job.attempt, events.slice(0, 5))).json).toEqual({
      ok: true,
      last_seq: 5,
    });
    const backlog = await control.as("viewer").calibration.events({ id, afterSeq: 2 });
    expect(backlog.events.map(({ seq, type }) => [seq, type])).toEqual([
      [3, "progress"],
      [4, "log"],
      [5, "counts"],
    ]);
    expect(await get(id)).toMatchObject({
      stage: "capture",
      percent: 20,
      rate: 12.5,
      unit: "sequences",
      lastSeq: 5,
    });
    const early = await worker.finish(id, {
      attempt: job.attempt,
      outcome: "fitted",
      artifact_sha256: "0".repeat(64),
    });
    expect(early.status).toBe(400);
    await worker.finish(id, {
      attempt: job.attempt,
      outcome: "failed",
      code: "RESOURCES",
      message: "no memory",
      exit_code: 6,
    });
    expect(await get(id)).toMatchObject({ state: "FAILED", error: { code: "RESOURCES", exitCode: 6 } });
  });
});

describe("artifacts", () => {
  it("are refused under another digest and served in ranges to nodes alone", async () => {
    const id = await start(reverse);
    const job = (await worker.claim()).json;
    const artifact = randomBytes(1000);
    const wrong = await worker.upload(id, job.attempt, artifact, "a".repeat(64));
    expect(wrong).toMatchObject({ status: 422, json: { error: { code: "ARTIFACT_MISMATCH" } } });
    expect((await worker.upload(id, job.attempt, artifact)).status).toBe(200);
    expect((await worker.upload(id, job.attempt, artifact)).status).toBe(200);
    const path = `/api/node/artifacts/${sha256(artifact)}`;
    expect((await control.request("GET", path, { bearer: worker.credential })).status).toBe(401);
    await control.as("operator").calibration.cancel({ id });
    expect((await worker.heartbeat(id, job.attempt)).json).toMatchObject({ action: "cancel" });
    await worker.finish(id, { attempt: job.attempt, outcome: "cancelled" });
    expect((await get(id)).state).toBe("CANCELLED");
    expect((await worker.upload(id, job.attempt, randomBytes(10))).json.error.code).toBe("ATTEMPT_FENCED");
  });
});

describe("leases", () => {
  const untilState = async (id: string, state: string) => {
    expect(
      (
        await until(
          () => get(id),
          (run) => run.state === state,
        )
      ).state,
    ).toBe(state);
  };

  it("are claimed by one worker, lost when silent, and come back for the same attempt", async () => {
    const id = await start(reverse);
    const other = await control.as("admin").host.createJoinToken({ kind: "worker" });
    const second = await joinWorker(control, other.token);
    const claims = await Promise.all([worker.claim(), second.claim(), worker.claim(), second.claim()]);
    const taken = claims.filter((claim) => claim.status === 200);
    expect(taken).toHaveLength(1);
    const job = taken[0]?.json;
    const owner = claims.indexOf(taken[0] as (typeof claims)[number]) % 2 === 0 ? worker : second;
    const stranger = owner === worker ? second : worker;
    expect((await stranger.heartbeat(id, job.attempt)).json).toMatchObject({ action: "fenced" });
    await untilState(id, "LOST");
    expect((await owner.heartbeat(id, job.attempt)).json).toMatchObject({ action: "continue" });
    expect((await get(id)).state).toBe("RUNNING");
    await untilState(id, "LOST");
    await control.as("operator").calibration.retry({ id });
    expect((await owner.heartbeat(id, job.attempt)).json).toMatchObject({ action: "fenced" });
    const next = (await stranger.claim()).json;
    expect(next).toMatchObject({ id, attempt_number: 2 });
    expect(
      (await owner.events(id, job.attempt, runEvents(randomBytes(8), { share: 1 }))).json.error.code,
    ).toBe("ATTEMPT_FENCED");
    await stranger.finish(id, { attempt: next.attempt, outcome: "failed" });
  });
});

describe("waiting", () => {
  it("shows the worker's own reason while it takes nothing", async () => {
    const id = await start(reverse);
    expect((await worker.claim({ waiting: "another process computes on the GPU" })).status).toBe(204);
    expect(await get(id)).toMatchObject({
      state: "QUEUED",
      waitingReason: "another process computes on the GPU",
    });
    await control.as("operator").calibration.cancel({ id });
    expect((await get(id)).state).toBe("CANCELLED");
  });

  it("still takes an inspection where a worker has no room for a calibration, and takes the run once it has", async () => {
    const id = await start(reverse);
    const waiting = "another process computes on the GPU";
    expect((await worker.claim({ waiting, rooms: [] })).status).toBe(204);
    expect(await get(id)).toMatchObject({ state: "QUEUED", waitingReason: waiting });
    await control.as("admin").pair.register({ sourceModel: "pilot", targetModel: "unread" });
    for (let i = 0; i < 2; i++) {
      const job = await worker.claim({ waiting, rooms: [], models: ["pilot", "unread"] });
      expect(job.json).toMatchObject({ kind: "inspection" });
      await worker.finish(job.json.id, { attempt: job.json.attempt, outcome: "failed", message: "no file" });
    }
    const run = await worker.claim({ rooms: ["beside"] });
    expect(run.json).toMatchObject({ kind: "calibration", id });
    await worker.finish(id, { attempt: run.json.attempt, outcome: "failed", code: "X", message: "no" });
  });

  it("refuses more source layers than the source has", async () => {
    const attempt = control.as("operator").calibration.start({ pairId: forward, device: "cpu", k: 29 });
    await expect(attempt).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("refuses a run that no connected worker could ever take", async () => {
    await expect(control.as("operator").calibration.start({ pairId: reverse })).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
  });
});
