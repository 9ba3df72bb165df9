import type { Readable } from "node:stream";
import { HelmError, Sha256 } from "@helm/contracts";
import type { ByteRange } from "./range";

/** One unfinished upload: who brings it and what it claims to be. No two owners ever share bytes before a digest holds. */
export interface UploadKey {
  sha256: string;
  /** Id of an attempt or of a person, never a name that somebody chose. */
  owner: string;
}

export interface Chunk {
  /** Where `source` begins; must be where the store stopped. */
  offset: number;
  /** Of the whole artifact. */
  length: number;
  source: Readable;
}

export interface Appended {
  offset: number;
  /** True once all bytes are here, have the digest they are named by, and can be read. */
  whole: boolean;
}

export interface PartialUpload extends UploadKey {
  bytes: number;
  changedAt: Date;
}

/** What was stored under a digest, whether or not the database knows of it. */
export interface StoredFile {
  sha256: string;
  bytes: number;
}

/**
 * Bytes named by their sha256. Nothing is visible to `size` and `read` before it is whole, verified and durable.
 * Errors of every verb: STORAGE_UNAVAILABLE; of writing also STORAGE_FULL, which leaves nothing half behind.
 */
export interface ArtifactStore {
  readonly kind: "directory" | "s3";
  /** The folder or bucket, as an operator would look for it. */
  readonly place: string;
  /** Null where it is not there. */
  size(sha256: string): Promise<number | null>;
  read(sha256: string, range: ByteRange): Promise<Readable>;
  /** How much of an upload is here. Errors: UPLOAD_BUSY while another process still writes it. */
  offset(upload: UploadKey): Promise<number>;
  /**
   * Appends as much as the source brings, and keeps it also where the source breaks. Errors: UPLOAD_OFFSET {expectedOffset},
   * UPLOAD_BUSY, ARTIFACT_MISMATCH (everything is thrown away), the source's own error.
   */
  append(upload: UploadKey, chunk: Chunk): Promise<Appended>;
  partials(): Promise<PartialUpload[]>;
  /** Forgets an unfinished upload that nobody writes. */
  discard(upload: UploadKey): Promise<void>;
  /** Removes what a process that died left between two steps, where it is older than `before`. */
  clean(before: Date): Promise<void>;
  files(): Promise<StoredFile[]>;
  /** Makes a stored file go; one that is gone is no error. */
  remove(sha256: string): Promise<void>;
  /** Null where the store does not say. */
  freeBytes(): Promise<number | null>;
}

const OWNER = /^[A-Za-z0-9-]{1,80}$/;

/** Names become paths and keys: nothing that is not ours gets that far. */
export function requireSha256(sha256: string): string {
  if (Sha256.safeParse(sha256).success) return sha256;
  throw new HelmError("BAD_REQUEST", "An artifact is named by 64 hex digits.");
}

export function requireUploadKey({ sha256, owner }: UploadKey): void {
  requireSha256(sha256);
  if (!OWNER.test(owner)) throw new HelmError("BAD_REQUEST", "This is no owner of an upload.");
}

export function wrongOffset(expectedOffset: number, offset: number): HelmError {
  return new HelmError(
    "UPLOAD_OFFSET",
    `The upload stands at ${expectedOffset} bytes, this body begins at ${offset}. Send from ${expectedOffset}.`,
    { expectedOffset, offset },
  );
}

export function busy(sentence: string, retryAfterMs: number): HelmError {
  return new HelmError("UPLOAD_BUSY", sentence, { retryAfterMs });
}

export function mismatch(expected: string, found: string, bytes: number): HelmError {
  const sentence = "The upload does not have the digest it is named by; it was thrown away.";
  return new HelmError("ARTIFACT_MISMATCH", sentence, { expected, found, bytes });
}

export function tooLong(length: number): HelmError {
  return new HelmError(
    "BAD_REQUEST",
    `The upload is longer than the ${length} bytes it was announced with.`,
    {
      length,
    },
  );
}

/** Leaves the source open where its reader stops early: the answer goes out on the same connection. */
export function bytesOf(source: Readable): AsyncIterable<Buffer> {
  return source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}
