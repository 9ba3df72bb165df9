import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../../testing/control-plane";
import { type FileChanges, mapperFile, TINY } from "../../testing/mapper-file";
import { facts, joinWorker, sha256, type TestWorker } from "../../testing/worker";
import { readMapperFile } from "./read-file";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = await register("small", "large", TINY);
});
afterAll(() => control.stop());

async function register(
  sourceModel: string,
  targetModel: string,
  models: Parameters<TestWorker["inspectAll"]>[0],
) {
  const { registrationId } = await control.as("admin").pair.register({ sourceModel, targetModel });
  await worker.inspectAll(models);
  const found = await control.as("viewer").pair.registration({ id: registrationId });
  expect(found).toMatchObject({ state: "REGISTERED" });
  return found.pairId ?? "";
}

async function store(file: Buffer): Promise<string> {
  const digest = sha256(file);
  await control.services.uploads.put(digest, "person-test", file.length, Readable.from([file]));
  await control.db.artifact.upsert({
    where: { sha256: digest },
    create: { sha256: digest, bytes: file.length },
    update: {},
  });
  return digest;
}

const bring = async (changes?: FileChanges) =>
  control.as("admin").mapper.import({ sha256: await store(mapperFile(changes)) });

async function causesOf(file: Buffer): Promise<string> {
  const before = await control.db.calibration.count();
  const error = await control
    .as("admin")
    .mapper.import({ sha256: await store(file) })
    .catch((thrown: { cause: { code: string; details: { causes: string[] } } }) => thrown.cause);
  expect(error).toMatchObject({ code: "IMPORT_REFUSED" });
  expect(await control.db.calibration.count()).toBe(before);
  return "details" in error ? error.details.causes.join("\n") : "";
}

describe("a mapper of another host", () => {
  it("is judged here, marked, kept to development nodes and active only by an administrator's act", async () => {
    const brought = await bring();
    expect(brought).toMatchObject({
      pairId,
      pairName: "small -> large",
      state: "INACTIVE",
      verdict: "CLEARED",
      developmentOnly: true,
    });
    const [mapper] = (await control.as("viewer").mapper.list({ pairId })).rows;
    expect(mapper).toMatchObject({ imported: true, developmentOnly: true, state: "INACTIVE" });
    const run = await control.as("viewer").calibration.get({ id: brought.calibrationId });
    expect(run).toMatchObject({ imported: true, state: "SUCCEEDED", startedBy: "admin@example.com" });
    expect(run.assessment?.retention.value).toBe(1);
    expect((await control.as("viewer").pair.get({ id: pairId })).status).toBe("NOT_CALIBRATED");
    await control.as("admin").mapper.activate({ id: brought.id });
    expect((await control.as("viewer").pair.get({ id: pairId })).status).toBe("ELIGIBLE");
    const known = await control
      .as("admin")
      .mapper.import({ sha256: sha256(mapperFile()) })
      .catch((error: { cause: { code: string } }) => error.cause.code);
    expect(known).toBe("CONFLICT");
  });

  it("is held by no worker that took its host's name", async () => {
    const { token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
    const name = "imported run (cpu)";
    const joined = await control.request("POST", "/api/hosts/join", {
      json: {
        kind: "worker",
        join_token: token,
        name,
        version: "imported",
        device: "cpu",
        hardware: "none",
        devices: [{ vendor: "none", name: "no accelerator", capability: null }],
      },
    });
    expect(joined.status).toBe(200);
    // Also one that has been revoked since and could be let in again.
    await control.as("admin").host.revoke({ id: joined.json.id });
    // The host that the tests before have made is away, so that the joined one is all there is of this name.
    await control.db.host.updateMany({
      where: { name, id: { not: joined.json.id } },
      data: { name: "renamed" },
    });
    const brought = await bring({ share: 0.95 });
    const { workerId } = await control.db.calibrationAttempt.findFirstOrThrow({
      where: { calibrationId: brought.calibrationId },
    });
    expect(workerId).not.toBe(joined.json.id);
    const host = await control.db.host.findUniqueOrThrow({ where: { id: workerId } });
    expect(host).toMatchObject({ lastSeenAt: null, revokedAt: expect.any(Date) });
    const again = await bring({ share: 0.96 });
    expect(
      await control.db.calibrationAttempt.findFirst({ where: { calibrationId: again.calibrationId } }),
    ).toMatchObject({ workerId });
  });

  it("is recorded with its score also where it missed the gate", async () => {
    const brought = await bring({ share: 0.7 });
    expect(brought).toMatchObject({ state: "INACTIVE", verdict: "BELOW_GATE" });
  });

  it("does not take the place of the first run of this server that clears", async () => {
    const other = await register("large", "small", TINY);
    const file = mapperFile({
      manifest: (manifest) => Object.assign(manifest, { source: TINY.large, target: TINY.small }),
    });
    await control.as("admin").mapper.import({ sha256: await store(file) });
    await control.as("operator").calibration.start({ pairId: other, device: "cpu", k: 1 });
    const job = (await worker.claim({ models: ["small", "large"] })).json;
    expect(job).toMatchObject({ source_model: "large" });
    const asked = { source: "large", target: "small", method: job.method, k: job.k };
    const { runEvents } = await import("../../testing/worker");
    const events = runEvents(file, { share: 1, asked });
    await worker.events(job.id, job.attempt, events);
    await worker.upload(job.id, job.attempt, file);
    await worker.finish(job.id, {
      attempt: job.attempt,
      outcome: "fitted",
      artifact_sha256: sha256(file),
    });
    const states = (await control.as("viewer").mapper.list({ pairId: other })).rows.map((one) => [
      one.imported,
      one.state,
    ]);
    expect(states).toEqual([
      [false, "ACTIVE"],
      [true, "INACTIVE"],
    ]);
  });
});

describe("a file that does not fit", () => {
  it("is refused with every cause at once, and leaves no run", async () => {
    const causes = await causesOf(
      mapperFile({
        manifest: (manifest) => {
          Object.assign(manifest, { device: "cuda", target: { ...TINY.large, tokenizer: "another" } });
          const counts = manifest.counts as Record<string, unknown>;
          delete counts.identity;
        },
        tensors: (tensors) => {
          tensors["0.wk"] = [64, 128];
          delete tensors["0.bv"];
          tensors.more = [1];
        },
      }),
    );
    for (const said of [
      /tokenizer/,
      /0\.wk is F32 \[64,128\]/,
      /lacks the tensors 0\.bv/,
      /more/,
      /cuda/,
      /identity/,
    ])
      expect(causes).toMatch(said);
  });

  it.each<[string, FileChanges, RegExp]>([
    [
      "other weights",
      { manifest: (m) => Object.assign(m, { source: facts("stranger") }) },
      /Register the pair/,
    ],
    ["another schema", { manifest: (m) => Object.assign(m, { schema: 2 }) }, /schema/],
    ["no counts", { manifest: (m) => Reflect.deleteProperty(m, "counts") }, /counts/],
    [
      "counts that are none",
      { manifest: (m) => Object.assign(m.counts as object, { mapper: [{ id: "x" }] }) },
      /counts\.mapper/,
    ],
    [
      "a cache of another shape",
      { manifest: (m) => Object.assign(m, { source: { ...TINY.small, head_dim: 64 } }) },
      /head_dim 64/,
    ],
    [
      "layers that are not there",
      { manifest: (m) => Object.assign(m, { layers: [{ k: [5], v: [0], renormalised: false }] }) },
      /layers/,
    ],
    [
      "one sequence twice",
      {
        manifest: (m) => {
          const { mapper } = m.counts as { mapper: unknown[] };
          mapper.push(mapper[0]);
        },
      },
      /distinct/,
    ],
    [
      "an identity that misses its bound",
      {
        manifest: (m) => {
          const counts = m.counts as { identity: unknown[]; zero_cache: unknown[] };
          counts.identity = counts.zero_cache;
        },
      },
      /identity/i,
    ],
    [
      "a NUL in a loose field",
      { manifest: (m) => Object.assign(m, { extra: { a: "x\u0000" } }) },
      /extra\.a/,
    ],
    [
      "a NUL in a version",
      { manifest: (m) => Object.assign(m, { versions: { torch: "2\u0000" } }) },
      /versions\.torch/,
    ],
    [
      "half a surrogate in its corpus",
      { manifest: (m) => Object.assign(m, { corpus: { name: "b\ud800" } }) },
      /corpus\.name/,
    ],
    [
      "a NUL in the name of a sequence",
      {
        manifest: (m) => Object.assign((m.counts as { mapper: object[] }).mapper[0] ?? {}, { id: "a\u0000" }),
      },
      /counts\.mapper\.0\.id/,
    ],
    [
      "a field nested without end",
      {
        manifest: (m) => {
          let extra: unknown = 1;
          for (let depth = 0; depth < 3_000; depth += 1) extra = [extra];
          Object.assign(m, { extra });
        },
      },
      /extra/,
    ],
    ["a k that its layers contradict", { manifest: (m) => Object.assign(m, { k: 512 }) }, /k 512.*1/],
  ])("is refused for %s", async (_, changes, said) => {
    expect(await causesOf(mapperFile(changes))).toMatch(said);
  });

  it("is refused where it is no mapper at all", async () => {
    const whole = mapperFile();
    expect(await causesOf(Buffer.from("PK not a tensor file"))).toMatch(/safetensors/);
    for (const rest of ["", "abc"])
      expect(await causesOf(Buffer.concat([Buffer.alloc(8), Buffer.from(rest)]))).toMatch(/header/);
    expect(await causesOf(whole.subarray(0, 5))).toMatch(/safetensors/);
    expect(await causesOf(whole.subarray(0, -4))).toMatch(/bytes of tensors/);
    const missing = await control
      .as("admin")
      .mapper.import({ sha256: "0".repeat(64) })
      .catch((error: { message: string }) => error.message);
    expect(missing).toMatch(/upload it first/);
  });

  it("is refused where it was deleted, also while its bytes are on their way out", async () => {
    const file = mapperFile({ share: 0.98 });
    await control.db.artifact.create({
      data: { sha256: sha256(file), bytes: file.length, deletedAt: new Date() },
    });
    expect(await causesOf(file)).toMatch(/deleted: upload it again/);
  });

  it("waits for a run of the same pair that is on", async () => {
    const { id } = await control.as("operator").calibration.start({ pairId, device: "cpu", k: 1 });
    const error = await bring({ share: 0.99 }).catch((thrown: { cause: { code: string } }) => thrown.cause);
    expect(error).toMatchObject({ code: "CALIBRATION_RUNNING" });
    await control.as("operator").calibration.cancel({ id });
  });
});

describe("the recorded run of the bundled pair", () => {
  it("has, from its file alone, the score that its events gave", async () => {
    const path = fileURLToPath(
      new URL("../../../../../prisma/seeds/cleared/mapper.safetensors", import.meta.url),
    );
    const { size } = await stat(path);
    const digest = "840e17c544c5b0ee43545203ddb7bc1d0098a24e1ef35b2b53685dba71d171fb";
    await control.services.uploads.put(digest, "person-test", size, createReadStream(path));
    await control.db.artifact.create({ data: { sha256: digest, bytes: size } });
    const file = await readMapperFile(control.services.artifacts, digest);
    if (typeof file === "string") throw new Error(file);
    const { source, target } = file.manifest as Record<"source" | "target", ReturnType<typeof facts>>;
    await register("pilot", "target", { pilot: source, target });
    const brought = await control.as("admin").mapper.import({ sha256: digest });
    expect(brought).toMatchObject({ pairName: "pilot -> target", verdict: "CLEARED" });
    const run = await control.as("viewer").calibration.get({ id: brought.calibrationId });
    // What the job's own summary says of the same counts.
    const said = file.manifest as { scores: { retention: { mapper: { value: number } } } };
    expect(run.assessment?.retention.value).toBeCloseTo(said.scores.retention.mapper.value, 9);
    expect(run.assessment?.arms.identity?.retention).toBe(1);
    expect(run.assessment?.long?.length ?? 0).toBeGreaterThan(0);
  });
});
