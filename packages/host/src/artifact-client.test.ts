import { createHash, randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

/** Whether some of a download is on disk. */
async function hasArrived(directory: string): Promise<boolean> {
  const part = join(directory, sha256, "mapper.safetensors.part");
  return stat(part).then(
    (found) => found.size > 0,
    () => false,
  );
}

async function artifactServer(options: Fault = {}) {
  const ranges: (string | undefined)[] = [];
  let broken = false;
  const url = await serve((request, response) => {
    ranges.push(request.headers.range);
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
  return { client: new HostClient({ controlUrl: url, credential: "c" }), ranges };
}

const wanted = (directory: string) => ({
  urlPath: `/a/${sha256}`,
  sha256,
  directory,
  expectedBytes: content.length,
});

it("goes on where a broken download stopped", async () => {
  const directory = await temporaryFolder();
  const { client, ranges } = await artifactServer({ breakAfter: { bytes: 100_000, directory } });
  await expect(downloadArtifact(client, wanted(directory))).rejects.toMatchObject({ retriable: true });
  const path = await downloadArtifact(client, wanted(directory));
  expect((await readFile(path)).equals(content)).toBe(true);
  expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/);
  expect(await downloadArtifact(client, wanted(directory))).toBe(path);
  expect(ranges).toHaveLength(2);
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

it("uploads under the digest with the host's credential", async () => {
  const received: Buffer[] = [];
  let seen = "";
  const url = await serve((request, response) => {
    seen = `${request.method} ${request.url} ${request.headers.authorization}`;
    request.on("data", (chunk) => received.push(chunk));
    request.on("end", () => response.end("{}"));
  });
  const file = join(await temporaryFolder(), "m");
  await writeFile(file, content);
  const client = new HostClient({ controlUrl: url, credential: "secret" });
  await uploadArtifact(client, { file, sha256, job: "j", attempt: "a" });
  expect(seen).toBe(`PUT /api/worker/artifacts/${sha256}?job=j&attempt=a Bearer secret`);
  expect(Buffer.concat(received).equals(content)).toBe(true);
});
