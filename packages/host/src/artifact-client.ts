import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import {
  ARTIFACT_FILE,
  OffsetDetails,
  PARTIAL_UPLOAD,
  Sha256,
  UPLOAD_COMPLETE,
  UPLOAD_LENGTH,
  UPLOAD_OFFSET,
} from "@helm/contracts";
import { syncFolder } from "./atomic-file";
import { type HostClient, HostRequestError } from "./host-client";

export const MAPPER_FILE = ARTIFACT_FILE;

export class ArtifactMismatch extends Error {
  override name = "ArtifactMismatch";
}

/** This host's disk takes no more; asking again helps once somebody has freed some of it. */
export class DiskFull extends Error {
  override name = "DiskFull";
  constructor(
    readonly folder: string,
    readonly neededBytes: number,
    options?: { cause?: unknown },
  ) {
    super(`The disk of ${folder} is full: ${neededBytes} bytes more are needed there.`, options);
  }
}

export async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

export interface Download {
  urlPath: string;
  sha256: string;
  directory: string;
  /** Bounds what is accepted. */
  expectedBytes: number;
}

/**
 * Fetches an artifact by digest into `<directory>/<sha256>/mapper.safetensors` and returns that path. A broken download
 * goes on where it stopped; nothing is put in place before its digest holds.
 * Errors: HostRequestError, ArtifactMismatch, DiskFull.
 */
export async function downloadArtifact(client: HostClient, options: Download): Promise<string> {
  const { sha256, expectedBytes } = options;
  if (!Sha256.safeParse(sha256).success) throw new ArtifactMismatch(`"${sha256}" is no sha256.`);
  const path = join(options.directory, sha256, MAPPER_FILE);
  if ((await sizeOf(path)) === expectedBytes && (await sha256File(path)) === sha256) return path;
  await downloadFile(client, { ...options, file: path });
  return path;
}

/** The same into any file: what stands beside it as `.part` is gone on with, and what is there is replaced at the end. */
export async function downloadFile(
  client: HostClient,
  options: Omit<Download, "directory"> & { file: string },
): Promise<void> {
  const { sha256, file, expectedBytes } = options;
  const part = `${file}.part`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await fetchRest(client, { ...options, part });
    const digest = await sha256File(part);
    if (digest !== sha256) {
      await rm(part, { force: true });
      throw new ArtifactMismatch(
        `The artifact received has digest ${digest}, not ${sha256}; it was thrown away.`,
      );
    }
    await rename(part, file);
    await syncFolder(dirname(file));
  } catch (error) {
    if (!isFull(error)) throw error;
    const have = await sizeOf(part);
    // What came of it would only keep the disk full.
    await rm(part, { force: true });
    throw new DiskFull(dirname(file), expectedBytes - have, { cause: error });
  }
}

async function fetchRest(
  client: HostClient,
  { urlPath, sha256, part, expectedBytes }: Omit<Download, "directory"> & { part: string },
): Promise<void> {
  let have = await sizeOf(part);
  if (have > expectedBytes) {
    await rm(part, { force: true });
    have = 0;
  }
  if (have === expectedBytes && have > 0) return;
  await requireSpace(dirname(part), expectedBytes - have);
  // The digest is the validator: a server that has something else under this name sends the whole of it.
  const headers: Record<string, string> =
    have > 0 ? { range: `bytes=${have}-`, "if-range": `"${sha256}"` } : {};
  const response = await client.open("GET", urlPath, { headers });
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
    if (error instanceof ArtifactMismatch) await rm(part, { force: true });
    if (error instanceof ArtifactMismatch || isFull(error)) throw error;
    throw new HostRequestError(0, null, `The download stopped after ${have} of ${expectedBytes} bytes.`, {
      cause: error,
    });
  } finally {
    await file.close();
  }
  if (have < expectedBytes)
    throw new HostRequestError(0, null, `The download stopped after ${have} of ${expectedBytes} bytes.`);
}

export interface Upload {
  file: string;
  sha256: string;
  /** Where uploads of this kind go, with what names their owner. */
  urlPath: string;
  onProgress?: (bytes: number, of: number) => void;
  /** Longest body of one request, where something in between takes no longer ones; without it the rest goes in one. */
  bodyBytes?: number;
}

/** More of a tug-of-war than this and somebody else is at the same upload. */
const REALIGNMENTS = 3;

/**
 * Sends a file under its digest, from where the control plane stopped; the control plane checks the digest again.
 * One try: a caller that asks again goes on where this one was cut. Errors: HostRequestError.
 */
export async function uploadArtifact(client: HostClient, upload: Upload): Promise<void> {
  const { size } = await stat(upload.file);
  let offset = await askOffset(client, upload.urlPath);
  for (let realigned = 0; offset !== "complete"; ) {
    // Something longer lies under this name: it is not ours to cut, and its digest will not hold.
    const from = Math.min(offset, size);
    offset = await sendFrom(client, upload, from, size).catch((error: unknown) => {
      const asked = offsetIn(error);
      if (asked === null) throw error;
      realigned += 1;
      if (realigned <= REALIGNMENTS) return asked;
      throw new HostRequestError(503, "UPLOAD_BUSY", "Something else writes this upload too.", {
        cause: error,
      });
    });
  }
}

async function askOffset(client: HostClient, urlPath: string): Promise<number | "complete"> {
  const response = await client.open("HEAD", urlPath);
  await response.body.dump();
  if (response.headers[UPLOAD_COMPLETE] === "?1") return "complete";
  const offset = Number(response.headers[UPLOAD_OFFSET]);
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new HostRequestError(502, "PROTOCOL", "The control plane did not say where to go on.");
}

async function sendFrom(
  client: HostClient,
  { file, urlPath, onProgress, bodyBytes }: Upload,
  offset: number,
  size: number,
): Promise<number | "complete"> {
  const end = bodyBytes === undefined ? size : Math.min(size, offset + bodyBytes);
  const response = await client.open("PATCH", urlPath, {
    body: offset < end ? createReadStream(file, { start: offset, end: end - 1 }) : Readable.from([]),
    headers: {
      "content-type": PARTIAL_UPLOAD,
      "content-length": String(end - offset),
      [UPLOAD_OFFSET]: String(offset),
      [UPLOAD_LENGTH]: String(size),
    },
  });
  await response.body.dump();
  if (response.statusCode === 200) return "complete";
  const next = Number(response.headers[UPLOAD_OFFSET]);
  if (!(next > offset && next < size))
    throw new HostRequestError(0, null, `The upload stopped before its ${size} bytes were there.`);
  onProgress?.(next, size);
  return next;
}

function offsetIn(error: unknown): number | null {
  if (!(error instanceof HostRequestError) || error.code !== "UPLOAD_OFFSET") return null;
  return OffsetDetails.safeParse(error.details).data?.expectedOffset ?? null;
}

async function requireSpace(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < needed) throw new DiskFull(folder, needed);
}

function isFull(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return [code, cause?.code].some((one) => one === "ENOSPC" || one === "EDQUOT");
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
