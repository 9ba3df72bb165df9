import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HelmError } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SECRET, type Swift, startSwift, whyNoSwift } from "../testing/swift";
import { S3Store } from "./s3-store";
import { content, hanging, resume, source, stored } from "./testing";

const why = whyNoSwift();
const PART = 5 * 1024 ** 2;
const TIMES = 120_000;

describe.skipIf(why !== null)(
  `a real S3 interface${why ? `: skipped, ${why}` : " (OpenStack Swift)"}`,
  () => {
    let swift: Swift;
    beforeAll(async () => {
      swift = await startSwift();
    }, TIMES);
    afterAll(() => swift?.stop());

    it("goes on at a whole part from another control plane, proves the digest, and gives ranges", {
      timeout: TIMES,
    }, async () => {
      const settings = await swift.bucket({ prefix: "fleet/", partBytes: PART });
      const [first, second] = [new S3Store(settings), new S3Store(settings)];
      await first.check();
      const { bytes, sha256 } = content(2 * PART + 2_000_001);
      const key = { sha256, owner: randomUUID() };
      expect((await resume(first, key, bytes, Math.floor(bytes.length * 0.9))).appended).toBeNull();
      expect(await second.size(sha256)).toBeNull();
      expect(await second.partials()).toMatchObject([{ ...key, bytes: 2 * PART }]);
      const wrong = { offset: 1, length: bytes.length, source: source(bytes) };
      await expect(second.append(key, wrong)).rejects.toMatchObject({
        code: "UPLOAD_OFFSET",
        details: { expectedOffset: 2 * PART },
      });
      const rest = await resume(second, key, bytes);
      expect(rest).toEqual({ appended: { offset: bytes.length, whole: true }, sent: 2_000_001 });
      expect((await stored(first, sha256))?.equals(bytes)).toBe(true);
      const range = await first.read(sha256, { start: PART - 3, end: PART + 2 });
      expect(Buffer.concat(await range.toArray()).equals(bytes.subarray(PART - 3, PART + 3))).toBe(true);
      expect(await first.files()).toEqual([{ sha256, bytes: bytes.length }]);
      expect(await first.partials()).toEqual([]);
      // Nothing that was put together and never proven is left.
      await first.clean(new Date(Date.now() + 60_000));
      expect((await stored(second, sha256))?.equals(bytes)).toBe(true);
      await first.remove(sha256);
      expect(await second.size(sha256)).toBeNull();
    });

    it("keeps parallel uploads of one digest apart and shows nothing of another digest", {
      timeout: TIMES,
    }, async () => {
      const store = new S3Store(await swift.bucket({ partBytes: PART }));
      const { bytes, sha256 } = content(PART + 10);
      const spoiled = randomBytes(bytes.length);
      const ends = await Promise.all([
        resume(store, { sha256, owner: randomUUID() }, bytes),
        resume(store, { sha256, owner: randomUUID() }, spoiled).catch((error: HelmError) => error.code),
        resume(store, { sha256, owner: randomUUID() }, bytes),
      ]);
      expect(ends[1]).toBe("ARTIFACT_MISMATCH");
      expect(ends[0]).toMatchObject({ appended: { whole: true } });
      expect(ends[2]).toMatchObject({ appended: { whole: true } });
      expect((await stored(store, sha256))?.equals(bytes)).toBe(true);
    });

    it("throws away an upload that nobody goes on with", { timeout: TIMES }, async () => {
      const store = new S3Store(await swift.bucket({ partBytes: PART }));
      const { bytes, sha256 } = content(3 * PART);
      const key = { sha256, owner: randomUUID() };
      await resume(store, key, bytes, PART + 1);
      expect(await store.offset(key)).toBe(PART);
      await store.discard(key);
      expect(await store.partials()).toEqual([]);
      expect(await store.offset(key)).toBe(0);
    });

    it("says what is wrong with the bucket or the credentials, and never the secret", {
      timeout: TIMES,
    }, async () => {
      const settings = await swift.bucket();
      const failing = async (changes: object) => {
        const store = new S3Store({ ...settings, ...changes });
        const error = await store.files().catch((thrown: unknown) => thrown);
        if (!(error instanceof HelmError)) throw new Error("no error of ours");
        expect(
          `${error.message} ${error.userMessage} ${JSON.stringify(error)} ${String(error.stack)}`,
        ).not.toContain(SECRET);
        return `${error.code} ${error.userMessage}`;
      };
      const other = { accessKeyId: "test:helm", secretAccessKey: "another" };
      expect(await failing({ credentials: other })).toMatch(/STORAGE_UNAVAILABLE .*refuses its credentials/);
      expect(await failing({ bucket: "nobody-made-this" })).toMatch(/STORAGE_UNAVAILABLE .*does not exist/);
    });
  },
);

/** A double, for faults that a real store does not make on order: it is no S3, it only answers badly. */
describe("a double of a store that fails", () => {
  async function failing(answer: (hit: number) => { status: number; body?: string } | "hang up") {
    let hits = 0;
    const server = createServer((request, response) => {
      hits += 1;
      const given = answer(hits);
      request.resume();
      if (given === "hang up") return void request.socket.destroy();
      response.writeHead(given.status, { "content-type": "application/xml" }).end(given.body ?? "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const store = new S3Store({
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: "us-east-1",
      bucket: "helm",
      prefix: "",
      pathStyle: true,
      credentials: { accessKeyId: "a", secretAccessKey: SECRET },
    });
    return { store, hits: () => hits };
  }
  const xml = (code: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`;

  it("is asked again a bounded number of times, then it is an answer", async () => {
    const { store, hits } = await failing(() => ({ status: 500, body: xml("InternalError") }));
    await expect(store.files()).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(hits()).toBe(4);
    const cut = await failing(() => "hang up");
    await expect(cut.store.files()).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(cut.hits()).toBe(4);
  }, 30_000);

  it("is full where it says so", async () => {
    const { store } = await failing(() => ({ status: 403, body: xml("QuotaExceeded") }));
    const chunk = { offset: 0, length: 10, source: hanging(Buffer.alloc(10)) };
    await expect(store.append({ sha256: "0".repeat(64), owner: randomUUID() }, chunk)).rejects.toMatchObject({
      code: "STORAGE_FULL",
    });
  });
});
