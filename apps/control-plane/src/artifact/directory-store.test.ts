import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { DirectoryStore } from "./directory-store";
import { content, hanging, resume, source, stored } from "./testing";
import { Uploads } from "./uploads";

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "helm-artifacts-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** What another control plane over the same folder would be. */
const openStore = (directory: string, lock = { patienceMs: 3_000, deadMs: 10_000 }) =>
  new DirectoryStore({ directory, reserveBytes: 0, lock });

const owner = () => randomUUID();
const leftIn = (directory: string) => readdir(join(directory, "uploads"));

it("sends every byte once, however often and wherever the line is cut", async () => {
  const directory = await folder();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 120_000 }),
      fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: 5 }),
      async (length, cuts) => {
        const store = openStore(directory);
        const { bytes, sha256 } = content(length);
        const key = { sha256, owner: owner() };
        let sent = 0;
        for (const cut of cuts) {
          const left = length - (await store.offset(key));
          const step = await resume(store, key, bytes, Math.floor(left * cut));
          sent += step.sent;
          expect(await store.size(sha256)).toBeNull();
        }
        // The last one goes on at another control plane.
        const last = await resume(openStore(directory), key, bytes);
        expect(last.appended).toEqual({ offset: length, whole: true });
        expect(sent + last.sent).toBe(length);
        expect((await stored(store, sha256))?.equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 20 },
  );
  expect(await leftIn(directory)).toEqual([]);
});

it("keeps parallel uploads of one digest apart, of several owners and of one", async () => {
  const directory = await folder();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 50_000, max: 200_000 }),
      fc.array(fc.nat(2), { minLength: 2, maxLength: 6 }),
      async (length, owners) => {
        const { bytes, sha256 } = content(length);
        const stores = [openStore(directory), openStore(directory)];
        const names = [owner(), owner(), owner()];
        const bring = async (which: number, at: number) => {
          const uploads = new Uploads(stores[at % 2] as DirectoryStore, bounds);
          const key = { sha256, owner: names[which] ?? "" };
          for (;;) {
            const offset = await uploads.offset(key).catch(() => 0);
            const ended = await uploads
              .append(key, offset, length, source(bytes.subarray(offset)))
              .catch((error: { code?: string }) => error.code ?? String(error));
            if (typeof ended === "object") return ended.whole;
            expect(["UPLOAD_BUSY", "UPLOAD_OFFSET"]).toContain(ended);
            // Another request of the same owner has brought it home.
            if ((await stores[0]?.size(sha256)) !== null) return true;
          }
        };
        expect(await Promise.all(owners.map(bring))).toEqual(owners.map(() => true));
        expect((await stored(openStore(directory), sha256))?.equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 8 },
  );
});

const bounds = { maxBytes: 2 ** 30, maxPartials: 64, maxPartialBytes: 2 ** 32, maxAgeMs: 60_000 };

it("shows nothing that has another digest, and forgets it", async () => {
  const directory = await folder();
  const store = openStore(directory);
  const { bytes, sha256 } = content(50_000);
  const key = { sha256, owner: owner() };
  const spoiled = Buffer.from(bytes);
  spoiled[7] = (spoiled[7] ?? 0) ^ 1;
  await resume(store, key, spoiled, 30_000);
  // The rest is right: what was kept from before is not, and only the whole digest tells.
  await expect(resume(store, key, bytes)).rejects.toMatchObject({ code: "ARTIFACT_MISMATCH" });
  expect(await store.size(sha256)).toBeNull();
  expect(await leftIn(directory)).toEqual([]);
  expect((await resume(store, key, bytes)).appended?.whole).toBe(true);
});

it("says where to go on to who begins elsewhere", async () => {
  const store = openStore(await folder());
  const { bytes, sha256 } = content(1_000);
  const key = { sha256, owner: owner() };
  await resume(store, key, bytes, 400);
  for (const offset of [0, 399, 401, 1_000]) {
    const chunk = { offset, length: 1_000, source: source(bytes.subarray(offset)) };
    await expect(store.append(key, chunk)).rejects.toMatchObject({
      code: "UPLOAD_OFFSET",
      details: { expectedOffset: 400 },
    });
  }
  expect((await resume(store, key, bytes)).sent).toBe(600);
});

it("takes no byte more than was announced", async () => {
  const directory = await folder();
  const store = openStore(directory);
  const { bytes, sha256 } = content(1_000);
  const chunk = { offset: 0, length: 999, source: source(bytes) };
  await expect(store.append({ sha256, owner: owner() }, chunk)).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  expect(await leftIn(directory)).toEqual([]);
});

it("has another process let go of an upload whose line hangs, and goes on where it stopped", async () => {
  const directory = await folder();
  const [first, second] = [openStore(directory), openStore(directory)];
  const { bytes, sha256 } = content(10_000);
  const key = { sha256, owner: owner() };
  const chunk = { offset: 0, length: 10_000, source: hanging(bytes.subarray(0, 9_000)) };
  const stuck = first.append(key, chunk).catch((error: { code: string }) => error.code);
  await expect.poll(async () => (await first.partials())[0]?.bytes).toBe(9_000);
  const rest = await resume(second, key, bytes);
  expect(rest).toEqual({ appended: { offset: 10_000, whole: true }, sent: 1_000 });
  expect(await stuck).toBe("UPLOAD_BUSY");
});

it("takes over from a process that died, and nothing that it still writes comes through", async () => {
  const directory = await folder();
  const store = openStore(directory, { patienceMs: 100, deadMs: 400 });
  const { bytes, sha256 } = content(10_000);
  const key = { sha256, owner: owner() };
  await resume(store, key, bytes, 6_000);
  const part = join(directory, "uploads", `${sha256}.${key.owner}.part`);
  await mkdir(`${part}.lock`);
  await writeFile(join(`${part}.lock`, randomUUID()), "");
  const old = await open(part, "r+");
  // Its pulse has to be seen standing still first.
  await expect(store.offset(key)).rejects.toMatchObject({ code: "UPLOAD_BUSY" });
  await expect.poll(() => store.offset(key).catch(() => null), { timeout: 5_000 }).toBe(6_000);
  await old.write(randomBytes(500), 0, 500, 100);
  const rest = await resume(store, key, bytes);
  await old.write(randomBytes(500), 0, 500, 100);
  await old.close();
  expect(rest.appended?.whole).toBe(true);
  expect((await stored(store, sha256))?.equals(bytes)).toBe(true);
});

it("refuses before the first byte what its disk cannot hold, and names the folder and the bytes", async () => {
  const directory = await folder();
  const free = (await openStore(directory).freeBytes()) ?? 0;
  const store = new DirectoryStore({ directory, reserveBytes: free });
  const { bytes, sha256 } = content(5_000);
  const full = await store
    .append({ sha256, owner: owner() }, { offset: 0, length: 5_000, source: source(bytes) })
    .catch((error: unknown) => error);
  expect(full).toMatchObject({
    code: "STORAGE_FULL",
    details: { place: directory, neededBytes: 5_000, freeBytes: expect.any(Number) },
    userMessage: expect.stringContaining(directory),
  });
  expect(await leftIn(directory)).toEqual([]);
});

it("is no way out of its folder", async () => {
  const store = openStore(await folder());
  const { bytes, sha256 } = content(10);
  for (const odd of ["../../etc/passwd", `${"a".repeat(63)}/`, "A".repeat(64), "", `../${"a".repeat(61)}`]) {
    await expect(store.size(odd)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(store.remove(odd)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const asHash = { offset: 0, length: 10, source: source(bytes) };
    await expect(store.append({ sha256: odd, owner: owner() }, asHash)).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
    if (odd.length === 64 && !odd.includes("/")) continue;
    await expect(store.offset({ sha256, owner: odd })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  }
});

it("bounds what lies unfinished in number, bytes and age", async () => {
  const store = openStore(await folder());
  const uploads = new Uploads(store, { ...bounds, maxPartials: 2, maxPartialBytes: 1_000, maxBytes: 900 });
  const begin = (length: number, cut: number) => {
    const { bytes, sha256 } = content(length);
    const key = { sha256, owner: owner() };
    return uploads.append(key, 0, length, source(bytes, cut)).catch((error: unknown) => error);
  };
  expect(await begin(901, 1)).toMatchObject({ code: "ARTIFACT_TOO_LARGE", details: { maxBytes: 900 } });
  await begin(300, 100);
  expect(await begin(901 - 1, 1)).toMatchObject({ message: "the line was cut" });
  expect(await begin(10, 1)).toMatchObject({ code: "UPLOAD_BUSY" });
  const gone = new Set((await store.partials()).slice(0, 1).map((partial) => partial.owner));
  expect(await uploads.sweep(async () => gone)).toBe(1);
  const old = new Uploads(store, { ...bounds, maxAgeMs: -1_000 });
  expect(await old.sweep(async () => new Set())).toBe(1);
  expect(await store.partials()).toEqual([]);
});

describe("unfinished uploads", () => {
  const cutUpload = (uploads: Uploads, who: string, length: number, cut: number) => {
    const { bytes, sha256 } = content(length);
    const key = { sha256, owner: who };
    const goOn = (at: number, until: number) =>
      uploads.append(key, at, length, source(bytes.subarray(at), until)).catch((error: unknown) => error);
    return goOn(0, cut).then((answer) => ({ answer, sha256, goOn }));
  };

  it("are one of an attempt, the newest, and a few of a person", async () => {
    const store = openStore(await folder());
    const uploads = new Uploads(store, { ...bounds, maxPartials: 6 });
    const attempt = owner();
    let last = "";
    for (let n = 0; n < 8; n += 1) last = (await cutUpload(uploads, attempt, 4_000, 10)).sha256;
    expect(await store.partials()).toMatchObject([{ owner: attempt, sha256: last }]);
    for (let n = 0; n < 8; n += 1) await cutUpload(uploads, "person-1", 4_000, 10);
    expect((await store.partials()).filter((partial) => partial.owner === "person-1")).toHaveLength(4);
    const other = await cutUpload(uploads, "person-2", 5, 5);
    expect(other.answer).toMatchObject({ whole: true });
  });

  it("hold no more together than their bound, whatever offset they go on from", async () => {
    const store = openStore(await folder());
    const uploads = new Uploads(store, { ...bounds, maxPartialBytes: 4_096 });
    const begun = [];
    for (let n = 0; n < 8; n += 1) begun.push(await cutUpload(uploads, owner(), 4_000, 10));
    for (const { goOn } of begun) await goOn(10, 3_980);
    const held = (await store.partials()).reduce((sum, { bytes }) => sum + bytes, 0);
    expect(held).toBeGreaterThan(3_900);
    expect(held).toBeLessThanOrEqual(4_096);
  });

  it("count as announced while they are on their way", async () => {
    const store = openStore(await folder());
    const uploads = new Uploads(store, { ...bounds, maxPartialBytes: 4_096 });
    const answers = await Promise.all([1, 2, 3].map(() => cutUpload(uploads, owner(), 4_000, 3_990)));
    expect(answers.filter(({ answer }) => (answer as { code?: string }).code === "UPLOAD_BUSY")).toHaveLength(
      2,
    );
  });
});
