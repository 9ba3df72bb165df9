import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { ARTIFACT_FILE, HelmError } from "@helm/contracts";
import type { ByteRange } from "./range";
import {
  type Appended,
  type ArtifactStore,
  busy,
  bytesOf,
  type Chunk,
  mismatch,
  type PartialUpload,
  requireSha256,
  requireUploadKey,
  type StoredFile,
  tooLong,
  type UploadKey,
  wrongOffset,
} from "./store";
import { type LockTimes, type WriterLock, WriterLocks } from "./writer-lock";

const PART = /^([0-9a-f]{64})\.([A-Za-z0-9-]{1,80})\.part$/;
const FULL = new Set(["ENOSPC", "EDQUOT"]);

export interface DirectorySettings {
  directory: string;
  /** Left free for whoever else lives on the disk. */
  reserveBytes: number;
  lock?: LockTimes;
}

/** `<directory>/<sha256>/mapper.safetensors`; unfinished ones in `<directory>/uploads`. May be shared by several processes. */
export class DirectoryStore implements ArtifactStore {
  readonly kind = "directory";
  readonly place: string;
  private readonly uploads: string;
  private readonly locks: WriterLocks;

  constructor(private readonly settings: DirectorySettings) {
    this.place = settings.directory;
    this.uploads = join(settings.directory, "uploads");
    this.locks = new WriterLocks(settings.lock ?? { patienceMs: 3_000, deadMs: 10_000 });
  }

  async size(sha256: string): Promise<number | null> {
    const found = await stat(this.fileOf(sha256)).catch(() => null);
    return found?.isFile() ? found.size : null;
  }

  async read(sha256: string, range: ByteRange): Promise<Readable> {
    return createReadStream(this.fileOf(sha256), range);
  }

  async offset(upload: UploadKey): Promise<number> {
    const part = this.partOf(upload);
    if ((await stat(`${part}.lock`).catch(() => null)) === null) return sizeOf(part);
    const lock = await this.locks.acquire(part, () => {});
    try {
      if (lock.inherited) await leaveOldDescriptors(part);
      return await sizeOf(part);
    } finally {
      await lock.release();
    }
  }

  async append(upload: UploadKey, chunk: Chunk): Promise<Appended> {
    const part = this.partOf(upload);
    await mkdir(this.uploads, { recursive: true, mode: 0o700 });
    const letGo = () => chunk.source.destroy(busy("Another request goes on with this upload.", 1_000));
    const lock = await this.locks.acquire(part, letGo);
    try {
      if (lock.inherited) await leaveOldDescriptors(part);
      const there = await sizeOf(part);
      if (there !== chunk.offset) throw wrongOffset(there, chunk.offset);
      await this.requireSpace(chunk.length - chunk.offset);
      const { offset, digest, inode } = await this.write(part, chunk);
      if (offset < chunk.length) return { offset, whole: false };
      await this.publish(upload, { part, lock, digest, inode });
      return { offset, whole: true };
    } finally {
      await lock.release();
    }
  }

  async partials(): Promise<PartialUpload[]> {
    const found: PartialUpload[] = [];
    for (const name of await namesIn(this.uploads)) {
      const [, sha256, owner] = PART.exec(name) ?? [];
      const facts = sha256 && owner ? await stat(join(this.uploads, name)).catch(() => null) : null;
      if (sha256 && owner && facts) found.push({ sha256, owner, bytes: facts.size, changedAt: facts.mtime });
    }
    return found;
  }

  async discard(upload: UploadKey): Promise<void> {
    const part = this.partOf(upload);
    if ((await stat(part).catch(() => null)) === null) return;
    const lock = await this.locks.acquire(part, () => {});
    await rm(part, { force: true });
    await lock.release();
  }

  async clean(before: Date): Promise<void> {
    for (const name of (await namesIn(this.uploads)).filter((one) => !PART.test(one))) {
      const path = join(this.uploads, name);
      // A lock beats while it is held, and its owner's part is discarded by its own age.
      const found = await stat(path).catch(() => null);
      if (found && found.mtime < before) await rm(path, { recursive: true, force: true });
    }
  }

  async files(): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    for (const sha256 of (await namesIn(this.settings.directory)).filter((name) => name.length === 64)) {
      const bytes = await this.size(sha256).catch(() => null);
      if (bytes !== null) found.push({ sha256, bytes });
    }
    return found;
  }

  async remove(sha256: string): Promise<void> {
    await rm(dirname(this.fileOf(sha256)), { recursive: true, force: true });
  }

  async freeBytes(): Promise<number | null> {
    await mkdir(this.settings.directory, { recursive: true });
    const { bavail, bsize } = await statfs(this.settings.directory);
    return bavail * bsize;
  }

  private fileOf(sha256: string): string {
    return join(this.settings.directory, requireSha256(sha256), ARTIFACT_FILE);
  }

  private partOf(upload: UploadKey): string {
    requireUploadKey(upload);
    return join(this.uploads, `${upload.sha256}.${upload.owner}.part`);
  }

  private async requireSpace(needed: number): Promise<void> {
    const free = ((await this.freeBytes()) ?? 0) - this.settings.reserveBytes;
    if (free < needed) throw this.full(needed, Math.max(0, free));
  }

  private full(neededBytes: number, freeBytes: number | null, cause?: unknown): HelmError {
    const sentence = `The disk of ${this.place} is full: ${neededBytes} bytes more are needed${freeBytes === null ? "" : `, ${freeBytes} can be used`}. Free some space there, or delete the files of retired mappers; the upload goes on by itself.`;
    return new HelmError("STORAGE_FULL", sentence, { place: this.place, neededBytes, freeBytes }, { cause });
  }

  /** Writes what comes. The digest is known where it came in one go; a source that breaks leaves what had arrived. */
  private async write(part: string, { offset, length, source }: Chunk) {
    const hash = offset === 0 ? createHash("sha256") : null;
    const file = await open(part, "a", 0o600);
    let at = offset;
    try {
      for await (const bytes of bytesOf(source)) {
        at += bytes.length;
        if (at > length) throw tooLong(length);
        hash?.update(bytes);
        await writeAll(file, bytes);
      }
      if (at === length) await file.sync();
      return { offset: at, digest: hash?.digest("hex") ?? null, inode: (await file.stat()).ino };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const full = FULL.has(code ?? "");
      // Half a mapper on a full disk helps nobody and holds up everybody.
      if (full || (error instanceof HelmError && error.code === "BAD_REQUEST"))
        await rm(part, { force: true });
      throw full ? this.full(length - at, null, error) : error;
    } finally {
      await file.close();
    }
  }

  /** Proves the digest of the very bytes that become visible, then renames them into place. */
  private async publish(
    { sha256 }: UploadKey,
    { part, lock, digest, inode }: { part: string; lock: WriterLock; digest: string | null; inode: number },
  ): Promise<void> {
    const own = join(this.uploads, `${randomUUID()}.done`);
    await rename(part, own);
    if ((await stat(own)).ino !== inode || !(await lock.mine())) {
      await rename(own, part);
      throw busy("Another process has taken this upload over.", 1_000);
    }
    try {
      const found = digest ?? (await sha256Of(own));
      if (found !== sha256) throw mismatch(sha256, found, await sizeOf(own));
      const final = this.fileOf(sha256);
      await mkdir(dirname(final), { recursive: true, mode: 0o700 });
      await rename(own, final);
      await syncDirectory(dirname(final));
      await syncDirectory(this.settings.directory);
    } finally {
      await rm(own, { force: true });
    }
  }
}

/** A writer that was taken for dead may wake up: it then writes into a file that nobody looks at any more. */
async function leaveOldDescriptors(part: string): Promise<void> {
  const copy = `${part}.${randomUUID()}`;
  try {
    await copyFile(part, copy);
    await rename(copy, part);
  } catch (error) {
    await rm(copy, { force: true });
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done)).bytesWritten;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? 0;
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
