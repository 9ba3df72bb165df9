import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { HelmError } from "@helm/contracts";

export const SHA256 = /^[0-9a-f]{64}$/;
const FILE = "mapper.safetensors";

/** Files named by their digest. A file is visible only once it is whole, verified and on the disk. */
export class ArtifactStore {
  constructor(
    private readonly directory: string,
    private readonly maxBytes: number,
  ) {}

  path(sha256: string): string {
    if (!SHA256.test(sha256)) throw new HelmError("BAD_REQUEST", "An artifact is named by 64 hex digits.");
    return join(this.directory, sha256, FILE);
  }

  async size(sha256: string): Promise<number | null> {
    const found = await stat(this.path(sha256)).catch(() => null);
    return found?.isFile() ? found.size : null;
  }

  read(sha256: string, range: { start: number; end: number }): Readable {
    return createReadStream(this.path(sha256), range);
  }

  /** Reads the whole stream and keeps nothing; refuses it where its digest is another one. Returns its length. */
  async check(sha256: string, source: AsyncIterable<Buffer>): Promise<number> {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      hash.update(chunk);
    }
    requireDigest(sha256, hash.digest("hex"), bytes);
    return bytes;
  }

  /** Takes the whole stream; refuses it where its digest is another one. Returns its length in bytes. */
  async write(sha256: string, source: AsyncIterable<Buffer>): Promise<number> {
    const final = this.path(sha256);
    const uploads = join(this.directory, "uploads");
    await mkdir(uploads, { recursive: true });
    const temporary = join(uploads, randomUUID());
    try {
      const { bytes, digest } = await writeHashed(temporary, source, this.maxBytes);
      requireDigest(sha256, digest, bytes);
      await mkdir(join(this.directory, sha256), { recursive: true });
      await rename(temporary, final);
      await syncDirectory(join(this.directory, sha256));
      return bytes;
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

function requireDigest(expected: string, found: string, bytes: number): void {
  if (found === expected) return;
  const sentence = "The upload does not have the digest it is named by.";
  throw new HelmError("ARTIFACT_MISMATCH", sentence, { expected, found, bytes });
}

async function writeHashed(path: string, source: AsyncIterable<Buffer>, maxBytes: number) {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new HelmError("BAD_REQUEST", "The artifact is larger than this server takes.", { maxBytes });
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, digest: hash.digest("hex") };
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
