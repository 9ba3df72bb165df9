import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { recordArtifact } from "../artifact/record-artifact";
import { removeDeletedFile, sweepDeletedFiles } from "../artifact/remove-deleted";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { joinWorker, registerPair, sha256, type TestWorker } from "../testing/worker";
import { inTransaction, outsideTransaction } from "../transaction";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
});
afterAll(() => control.stop());

async function calibrated(bytes: Buffer) {
  await control.as("operator").calibration.start({ pairId, device: "cpu" });
  await worker.run(bytes, { share: 1 });
  const [newest] = (await control.as("viewer").mapper.list({ pairId })).rows;
  if (newest?.sha256 !== sha256(bytes)) throw new Error("no mapper came of it");
  return newest;
}

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "OK",
    (error: { cause: { code: string; userMessage: string } }) =>
      `${error.cause.code} ${error.cause.userMessage}`,
  );

it("tells what lies in the store, what nobody names, what is missing, and frees a retired mapper's file", async () => {
  const first = await calibrated(randomBytes(3_000));
  const second = await calibrated(randomBytes(2_000));
  const admin = control.as("admin");
  const stray = randomBytes(500);
  await control.services.uploads.put(sha256(stray), "person-test", 500, Readable.from([stray]));
  const unfinished = { sha256: "0".repeat(64), owner: "person-test" };
  await control.services.uploads.append(unfinished, 0, 100, Readable.from([randomBytes(40)]));

  const before = await control.as("viewer").mapper.storage();
  expect(before).toMatchObject({
    kind: "directory",
    place: control.services.config.artifactDir,
    stored: { files: 3, bytes: 5_500 },
    pairs: [{ pairId, files: 2, bytes: 5_000, retiredBytes: 0 }],
    unreferenced: { files: 1, bytes: 500, names: [sha256(stray)] },
    missing: [],
    unfinished: { uploads: 1, bytes: 40 },
  });
  expect(before.freeBytes).toBeGreaterThan(0);

  expect(first.state).toBe("ACTIVE");
  expect(await codeOf(admin.mapper.deleteFile({ id: first.id }))).toMatch(
    /ILLEGAL_TRANSITION .*ACTIVE.*Retire/,
  );
  expect(await codeOf(admin.mapper.deleteFile({ id: second.id }))).toMatch(/INACTIVE/);
  await admin.mapper.retire({ id: first.id });
  expect((await admin.mapper.storage()).pairs[0]?.retiredBytes).toBe(3_000);
  expect(await admin.mapper.deleteFile({ id: first.id })).toEqual({
    id: first.id,
    sha256: first.sha256,
    freedBytes: 3_000,
  });
  expect(await codeOf(admin.mapper.deleteFile({ id: first.id }))).toMatch(/deleted already/);
  expect(await control.services.artifacts.size(first.sha256)).toBeNull();
  const { rows } = await admin.mapper.list({ pairId });
  expect(rows.find(({ id }) => id === first.id)).toMatchObject({
    state: "RETIRED",
    fileDeletedAt: expect.any(Date),
    score: { retention: { value: 1 } },
  });
  const [audit] = (await admin.audit.list({})).rows.filter(({ verb }) => verb === "mapper.deleteFile");
  expect(audit).toMatchObject({ entityId: first.id });

  await rm(join(control.services.config.artifactDir, second.sha256), { recursive: true });
  expect((await admin.mapper.storage()).missing).toEqual([second.sha256]);
});

it("keeps a file that another mapper shares", async () => {
  const bytes = randomBytes(1_000);
  const admin = control.as("admin");
  const first = await calibrated(bytes);
  await admin.mapper.retire({ id: first.id });
  const again = await calibrated(bytes);
  expect(again.id).not.toBe(first.id);
  expect(await codeOf(admin.mapper.deleteFile({ id: first.id }))).toMatch(/in use/);
  await admin.mapper.retire({ id: again.id });
  expect(await codeOf(admin.mapper.deleteFile({ id: first.id }))).toBe("OK");
});

it("keeps a file that nodes are still told to hold", async () => {
  const admin = control.as("admin");
  const mapper = await calibrated(randomBytes(1_000));
  await admin.mapper.retire({ id: mapper.id });
  const [newest] = await control.db.routingSnapshot.findMany({ orderBy: { generation: "desc" }, take: 1 });
  if (!newest) throw new Error("no snapshot");
  await control.db.routingSnapshot.update({
    where: { generation: newest.generation },
    data: { document: `${newest.document} ${mapper.sha256}` },
  });
  expect(await codeOf(admin.mapper.deleteFile({ id: mapper.id }))).toMatch(/Nodes are still told/);
});

describe("the bytes of a deletion", () => {
  const system = () => {
    const { services } = control;
    const actor = { kind: "system", name: "test" } as const;
    return outsideTransaction({ services, actor, requestId: "r", address: "local", log: services.log });
  };
  const retired = async (bytes: Buffer) => {
    const mapper = await calibrated(bytes);
    await control.as("admin").mapper.retire({ id: mapper.id });
    return mapper;
  };
  const sizeOf = (digest: string) => control.services.artifacts.size(digest);
  const rowOf = (digest: string) => control.db.artifact.findUniqueOrThrow({ where: { sha256: digest } });

  it("stay where what follows in its transaction fails", async () => {
    const { id, sha256: digest } = await retired(randomBytes(1_000));
    // Something to publish, so that the signer is asked.
    await control.db.tenant.create({ data: { name: "unpublished" } });
    const sign = vi.spyOn(control.services.signer, "sign").mockImplementation(() => {
      throw new Error("the signer is gone");
    });
    expect(await codeOf(control.as("admin").mapper.deleteFile({ id }))).toMatch(/INTERNAL/);
    sign.mockRestore();
    expect((await rowOf(digest)).deletedAt).toBeNull();
    expect(await sizeOf(digest)).toBe(1_000);
    expect(await codeOf(control.as("admin").mapper.deleteFile({ id }))).toBe("OK");
    expect(await sizeOf(digest)).toBeNull();
  });

  it("go at the next start where the store failed, and never before the row says so", async () => {
    const { id, sha256: digest } = await retired(randomBytes(1_000));
    await removeDeletedFile(system(), digest);
    expect(await sizeOf(digest)).toBe(1_000);
    vi.spyOn(control.services.artifacts, "remove").mockRejectedValueOnce(new Error("the store is gone"));
    expect(await codeOf(control.as("admin").mapper.deleteFile({ id }))).toBe("OK");
    vi.restoreAllMocks();
    expect((await rowOf(digest)).deletedAt).not.toBeNull();
    expect(await sizeOf(digest)).toBe(1_000);
    const again = await control.restart();
    expect(
      await until(
        () => sizeOf(digest),
        (size) => size === null,
      ),
    ).toBeNull();
    await again.stop();
  });

  it("stay where an upload took the row back before they went", async () => {
    const bytes = randomBytes(1_000);
    const { id, sha256: digest } = await retired(bytes);
    vi.spyOn(control.services.artifacts, "remove").mockRejectedValueOnce(new Error("the store is gone"));
    await control.as("admin").mapper.deleteFile({ id });
    vi.restoreAllMocks();
    let swept: Promise<void> | null = null;
    await inTransaction(system(), { audited: false, publish: false }, async (inner) => {
      expect(await recordArtifact(inner, digest, bytes.length)).toBe(true);
      // Begins while the row says deleted still, and has to wait for this transaction.
      swept = sweepDeletedFiles(system());
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    await swept;
    expect((await rowOf(digest)).deletedAt).toBeNull();
    expect(await sizeOf(digest)).toBe(1_000);
  });
});
