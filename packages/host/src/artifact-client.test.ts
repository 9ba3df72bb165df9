import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { expect, it, vi } from "vitest";
import { ArtifactMismatch, downloadArtifact, uploadArtifact } from "./artifact-client";
import { HostClient } from "./host-client";
import { serve, temporaryFolder } from "./testing";

const content = randomBytes(300_000);
const sha256 = createHash("sha256").update(content).digest("hex");

interface Fault {
  /** Breaks the first answer after these bytes, once they have arrived in a file under this folder. */
  breakAfter?: { bytes: number; directory: string };
  flip?: boolean;
  ignoreRange?: boolean;
}

const partIn = (directory: string) => join(directory, sha256, "mapper.safetensors.part");

/** Whether some of a download is on disk. */
async function hasArrived(directory: string): Promise<boolean> {
  return stat(partIn(directory)).then(
    (found) => found.size > 0,
    () => false,
  );
}

async function artifactServer(options: Fault = {}) {
  const asked: IncomingMessage["headers"][] = [];
  let broken = false;
  const url = await serve((request, response) => {
    asked.push(request.headers);
    const from = options.ignoreRange ? 0 : Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const rest = Buffer.from(content.subarray(from));
    if (options.flip) rest[10] = (rest[10] ?? 0) ^ 1;
    response.writeHead(from > 0 ? 206 : 200, { "content-length": rest.length });
    if (options.breakAfter !== undefined && !broken) {
      broken = true;
      const { bytes, directory } = options.breakAfter;
      response.write(rest.subarray(0, bytes));
      void vi.waitUntil(() => hasArrived(directory), { timeout: 15_000 }).finally(() => response.destroy());
      return;
    }
    response.end(rest);
  });
  return { client: new HostClient({ controlUrl: url, credential: "c" }), asked };
}

const wanted = (directory: string) => ({
  urlPath: `/a/${sha256}`,
  sha256,
  directory,
  expectedBytes: content.length,
});

it("goes on where a broken download stopped, if it is still the same artifact", async () => {
  const directory = await temporaryFolder();
  const { client, asked } = await artifactServer({ breakAfter: { bytes: 100_000, directory } });
  await expect(downloadArtifact(client, wanted(directory))).rejects.toMatchObject({ retriable: true });
  const path = await downloadArtifact(client, wanted(directory));
  expect((await readFile(path)).equals(content)).toBe(true);
  expect(asked[1]?.range).toMatch(/^bytes=[1-9]\d*-$/);
  expect(asked[1]?.["if-range"]).toBe(`"${sha256}"`);
  expect(await downloadArtifact(client, wanted(directory))).toBe(path);
  expect(asked).toHaveLength(2);
});

it("takes the whole again from a server that ignores ranges", async () => {
  const directory = await temporaryFolder();
  const { client } = await artifactServer({ breakAfter: { bytes: 100_000, directory }, ignoreRange: true });
  await expect(downloadArtifact(client, wanted(directory))).rejects.toThrow();
  const path = await downloadArtifact(client, wanted(directory));
  expect((await readFile(path)).equals(content)).toBe(true);
});

it("throws away what has another digest, and what is longer than stated", async () => {
  const directory = await temporaryFolder();
  const flipped = await artifactServer({ flip: true });
  await expect(downloadArtifact(flipped.client, wanted(directory))).rejects.toThrow(ArtifactMismatch);
  await expect(readFile(join(directory, sha256, "mapper.safetensors"))).rejects.toThrow();
  const { client } = await artifactServer();
  await expect(downloadArtifact(client, { ...wanted(directory), expectedBytes: 1000 })).rejects.toThrow(
    /longer/,
  );
});

it("throws away a part that went bad on the disk and says so; the next try is whole", async () => {
  const directory = await temporaryFolder();
  const { client, asked } = await artifactServer();
  await mkdir(dirname(partIn(directory)), { recursive: true });
  await writeFile(partIn(directory), randomBytes(100_000));
  await expect(downloadArtifact(client, wanted(directory))).rejects.toThrow(/thrown away/);
  expect(await hasArrived(directory)).toBe(false);
  const path = await downloadArtifact(client, wanted(directory));
  expect((await readFile(path)).equals(content)).toBe(true);
  expect(asked.map(({ range }) => range)).toEqual(["bytes=100000-", undefined]);
});

it("does not begin what this disk cannot hold", async () => {
  const directory = await temporaryFolder();
  const { client, asked } = await artifactServer();
  const most = { ...wanted(directory), expectedBytes: 2 ** 52 };
  await expect(downloadArtifact(client, most)).rejects.toMatchObject({
    name: "DiskFull",
    folder: join(directory, sha256),
    neededBytes: 2 ** 52,
  });
  expect(asked).toEqual([]);
  expect(await hasArrived(directory)).toBe(false);
});

/** Keeps what comes; may hang up once, or lie once about where it stands. */
async function uploadServer(options: { have?: number; hangUpAt?: number; lie?: number } = {}) {
  let kept = content.subarray(0, options.have ?? 0);
  const seen: string[] = [];
  let { hangUpAt, lie } = options;
  const url = await serve(async (request: IncomingMessage, response: ServerResponse) => {
    const offset = Number(request.headers["upload-offset"] ?? 0);
    seen.push(`${request.method} ${offset} ${request.headers.authorization}`);
    if (request.method === "HEAD") {
      response.writeHead(204, { "upload-offset": String(lie ?? kept.length), "upload-complete": "?0" }).end();
      lie = undefined;
      return;
    }
    if (offset !== kept.length) {
      const error = { code: "UPLOAD_OFFSET", message: "", details: { expectedOffset: kept.length } };
      response.writeHead(409).end(JSON.stringify({ error }));
      return;
    }
    for await (const chunk of request) {
      kept = Buffer.concat([kept, chunk as Buffer]);
      if (hangUpAt !== undefined && kept.length >= hangUpAt) {
        hangUpAt = undefined;
        request.socket.destroy();
        return;
      }
    }
    response.end("{}");
  });
  const client = new HostClient({ controlUrl: url, credential: "secret" });
  return { client, seen, kept: () => kept };
}

async function uploadTo(client: HostClient) {
  const file = join(await temporaryFolder(), "m");
  await writeFile(file, content);
  return () => uploadArtifact(client, { file, sha256, urlPath: `/up/${sha256}` });
}

it("asks where to go on and sends the rest with the host's credential", async () => {
  const { client, seen, kept } = await uploadServer({ have: 270_000 });
  await (await uploadTo(client))();
  expect(seen).toEqual(["HEAD 0 Bearer secret", "PATCH 270000 Bearer secret"]);
  expect(kept().equals(content)).toBe(true);
});

it("goes on after a cut, and where it is told that it began at the wrong place", async () => {
  const { client, seen, kept } = await uploadServer({ hangUpAt: 200_000, lie: 5 });
  const upload = await uploadTo(client);
  await expect(upload()).rejects.toMatchObject({ retriable: true });
  const at = kept().length;
  await upload();
  expect(kept().equals(content)).toBe(true);
  expect(seen.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
    "HEAD 0",
    "PATCH 5",
    "PATCH 0",
    "HEAD 0",
    `PATCH ${at}`,
  ]);
});
