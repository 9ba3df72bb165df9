import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "./atomic-file";
import { type HostClient, HostRequestError } from "./host-client";

const SHA256 = /^[0-9a-f]{64}$/;
export const MAPPER_FILE = "mapper.safetensors";

export class ArtifactMismatch extends Error {
  override name = "ArtifactMismatch";
}

export async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/**
 * Fetches an artifact by digest into `<directory>/<sha256>/mapper.safetensors` and returns that path. A broken download
 * goes on where it stopped; nothing is put in place before its digest holds. `expectedBytes` bounds what is accepted.
 * Errors: HostRequestError, ArtifactMismatch.
 */
export async function downloadArtifact(
  client: HostClient,
  options: { urlPath: string; sha256: string; directory: string; expectedBytes: number },
): Promise<string> {
  const { sha256, expectedBytes } = options;
  if (!SHA256.test(sha256)) throw new ArtifactMismatch(`"${sha256}" is no sha256.`);
  const path = join(options.directory, sha256, MAPPER_FILE);
  if ((await sizeOf(path)) === expectedBytes && (await sha256File(path)) === sha256) return path;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.part`;
  await fetchRest(client, options.urlPath, part, expectedBytes);
  const digest = await sha256File(part);
  if (digest !== sha256) {
    await rm(part, { force: true });
    throw new ArtifactMismatch(
      `The artifact received has digest ${digest}, not ${sha256}; it was thrown away.`,
    );
  }
  await rename(part, path);
  await syncFolder(dirname(path));
  return path;
}

async function fetchRest(
  client: HostClient,
  urlPath: string,
  part: string,
  expectedBytes: number,
): Promise<void> {
  let have = await sizeOf(part);
  if (have > expectedBytes) {
    await rm(part, { force: true });
    have = 0;
  }
  if (have === expectedBytes && have > 0) return;
  const response = await client.open("GET", urlPath, {
    headers: have > 0 ? { range: `bytes=${have}-` } : {},
  });
  // A server that ignores the range sends the whole again.
  if (response.statusCode !== 206) have = 0;
  const file = await open(part, have > 0 ? "a" : "w", 0o600);
  try {
    for await (const chunk of response.body) {
      have += (chunk as Buffer).length;
      if (have > expectedBytes)
        throw new ArtifactMismatch(`The artifact is longer than the ${expectedBytes} bytes stated.`);
      await file.writeFile(chunk as Buffer);
    }
    await file.sync();
  } catch (error) {
    if (error instanceof ArtifactMismatch) throw error;
    throw new HostRequestError(0, null, `The download stopped after ${have} of ${expectedBytes} bytes.`, {
      cause: error,
    });
  } finally {
    await file.close();
  }
}

/** Sends a file under its digest for one attempt of a job; the control plane checks the digest again. */
export async function uploadArtifact(
  client: HostClient,
  options: { file: string; sha256: string; job: string; attempt: string },
): Promise<void> {
  const { size } = await stat(options.file);
  const query = new URLSearchParams({ job: options.job, attempt: options.attempt });
  const response = await client.open("PUT", `/api/worker/artifacts/${options.sha256}?${query}`, {
    body: createReadStream(options.file),
    headers: { "content-type": "application/octet-stream", "content-length": String(size) },
  });
  await response.body.dump();
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
