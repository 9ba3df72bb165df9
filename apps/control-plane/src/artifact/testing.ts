import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { Appended, ArtifactStore, UploadKey } from "./store";

export class Cut extends Error {}

export function content(length: number): { bytes: Buffer; sha256: string } {
  const bytes = randomBytes(length);
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** `bytes` in pieces; breaks after `cutAfter` of them where that is less. */
export function source(bytes: Buffer, cutAfter = Number.POSITIVE_INFINITY, piece = 16_384): Readable {
  async function* pieces() {
    for (let at = 0; at < Math.min(bytes.length, cutAfter); at += piece)
      yield bytes.subarray(at, Math.min(at + piece, cutAfter));
    if (cutAfter < bytes.length) throw new Cut("the line was cut");
  }
  return Readable.from(pieces(), { objectMode: false });
}

/** A line that brings `bytes` and then hangs without ending. */
export function hanging(bytes: Buffer): Readable {
  const stream = new Readable({ read() {} });
  stream.push(bytes);
  return stream;
}

/** Sends what is left once, from where the store stands; counts what went over the line. */
export async function resume(
  store: ArtifactStore,
  key: UploadKey,
  bytes: Buffer,
  cutAfter?: number,
): Promise<{ appended: Appended | null; sent: number }> {
  const offset = await store.offset(key);
  const rest = bytes.subarray(offset);
  const sent = Math.min(rest.length, cutAfter ?? rest.length);
  try {
    const chunk = { offset, length: bytes.length, source: source(rest, cutAfter) };
    return { appended: await store.append(key, chunk), sent };
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
    return { appended: null, sent };
  }
}

export async function stored(store: ArtifactStore, sha256: string): Promise<Buffer | null> {
  const size = await store.size(sha256);
  if (size === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of await store.read(sha256, { start: 0, end: size - 1 }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
