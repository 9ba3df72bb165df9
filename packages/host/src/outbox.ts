import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "./atomic-file";

export interface Numbered<T> {
  seq: number;
  event: T;
}

const NAME = /^[A-Za-z0-9_-]{1,128}$/;
/** Acknowledged lines that stay in the file before it is written anew without them. */
const COMPACT_BYTES = 1024 ** 2;

/** What an outbox holds at most, in bytes of events that are not acknowledged. */
export interface OutboxLimits {
  /** For everything. */
  maxBytes: number;
  /** Beside it, for what the outcome depends on. */
  reserveBytes: number;
}

export const OUTBOX_LIMITS: OutboxLimits = { maxBytes: 256 * 1024 ** 2, reserveBytes: 64 * 1024 ** 2 };

export class OutboxError extends Error {
  override name = "OutboxError";
  constructor(
    readonly code: "OUTBOX_FULL" | "DISK_FULL" | "DISK_FAILED",
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/**
 * A durable queue of one job's events, numbered from 1 without gaps. Events are appended to a file and stay until they
 * are acknowledged, so that what happened while the control plane was away is delivered afterwards, in order. What a
 * full disk does not take is kept in memory, delivered from there, and written once there is room.
 */
export class Outbox<T> {
  private waiting: { seq: number; event: T; bytes: number }[];
  private writing: Promise<void> = Promise.resolve();
  private failure: unknown = null;
  private unwritten: string[] = [];
  private waitingBytes: number;
  private constructor(
    /** Where the queue lies; a job's own notes may lie beside it and go with it. */
    readonly folder: string,
    private file: FileHandle,
    private next: number,
    private acked: number,
    /** Bytes of the file's whole lines. */
    private size: number,
    records: { seq: number; event: T; bytes: number }[],
    private readonly limits: OutboxLimits,
  ) {
    this.waiting = records.filter((record) => record.seq > acked);
    this.waitingBytes = this.waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Opens the queue `name`, as far as it was written whole; a line cut by a crash is dropped. */
  static async open<T>(
    directory: string,
    name: string,
    parse: (value: unknown) => T,
    limits: OutboxLimits = OUTBOX_LIMITS,
  ): Promise<Outbox<T>> {
    if (!NAME.test(name)) throw new Error(`"${name}" is no name of an outbox.`);
    const folder = join(directory, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, "events.jsonl");
    await (await open(path, "a", 0o600)).close();
    const records = readRecords(await readFile(path, "utf8"), parse);
    const size = records.reduce((sum, { bytes }) => sum + bytes, 0);
    const file = await open(path, "r+");
    await file.truncate(size);
    const acked = Number(await readFile(join(folder, "acked"), "utf8").catch(() => "0")) || 0;
    const last = records.at(-1)?.seq ?? 0;
    return new Outbox(folder, file, Math.max(last, acked) + 1, acked, size, records, limits);
  }

  /** Names of the queues left by an earlier life of this process. */
  static async left(directory: string): Promise<string[]> {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name)).map((entry) => entry.name);
  }

  get lastSeq(): number {
    return this.next - 1;
  }

  get ackedSeq(): number {
    return this.acked;
  }

  /** Bytes that wait to be delivered. */
  get pendingBytes(): number {
    return this.waitingBytes;
  }

  /**
   * Numbers the event and queues it; `flush` waits until it is on disk. Null where the outbox is full and the event is
   * one that may be left out. Errors: OUTBOX_FULL where a decisive one finds no room either.
   */
  append(event: T, decisive = true): number | null {
    const line = `${JSON.stringify({ seq: this.next, event })}\n`;
    const bytes = Buffer.byteLength(line);
    const { maxBytes, reserveBytes } = this.limits;
    if (this.waitingBytes + bytes > maxBytes + (decisive ? reserveBytes : 0)) {
      if (!decisive) return null;
      throw new OutboxError(
        "OUTBOX_FULL",
        `More than ${maxBytes + reserveBytes} bytes of events wait for the control plane to come back.`,
      );
    }
    const seq = this.next++;
    this.waiting.push({ seq, event, bytes });
    this.waitingBytes += bytes;
    this.unwritten.push(line);
    this.writing = this.writing.then(() => this.writeOut());
    return seq;
  }

  /** Errors: OutboxError, a full disk for one; what is not on disk is still in memory and will be delivered. */
  async flush(): Promise<void> {
    this.writing = this.writing.then(() => this.writeOut());
    await this.writing;
    if (this.failure) throw diskError(this.failure);
    await this.file.sync();
  }

  /** The oldest events not yet acknowledged, in order. */
  pending(limit: number): Numbered<T>[] {
    return this.waiting.slice(0, limit).map(({ seq, event }) => ({ seq, event }));
  }

  /** Forgets everything up to `seq`. Where that cannot be written down, it is sent once more in another life. */
  async ack(seq: number): Promise<void> {
    if (seq <= this.acked) return;
    this.acked = Math.min(seq, this.lastSeq);
    this.waiting = this.waiting.filter((record) => record.seq > this.acked);
    this.waitingBytes = this.waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    await writeFileAtomic(join(this.folder, "acked"), String(this.acked)).then(
      () => this.compact(),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    await this.writing;
    await this.file.close();
  }

  /** Closes and removes the queue: the job is over and everything delivered, or refused for good. */
  async discard(): Promise<void> {
    await this.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** At its place and not at the file's end: half a line that a full disk left is written over. */
  private async writeOut(): Promise<void> {
    const lines = this.unwritten.length;
    if (lines === 0) return;
    const bytes = Buffer.from(this.unwritten.join(""));
    try {
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await this.file.write(bytes, at, bytes.length - at, this.size + at);
        at += bytesWritten;
      }
      this.size += bytes.length;
      this.unwritten = this.unwritten.slice(lines);
      this.failure = null;
    } catch (error) {
      this.failure = error;
    }
  }

  /** Writes the file anew without what was acknowledged, so that it is as bounded as what waits. */
  private compact(): void {
    this.writing = this.writing.then(async () => {
      const written = this.waiting.slice(0, this.waiting.length - this.unwritten.length);
      const wanted = written.reduce((sum, { bytes }) => sum + bytes, 0);
      if (this.size - wanted < COMPACT_BYTES || this.unwritten.length > this.waiting.length) return;
      const path = join(this.folder, "events.jsonl");
      const text = written.map(({ seq, event }) => `${JSON.stringify({ seq, event })}\n`).join("");
      try {
        await writeFileAtomic(path, text);
        const file = await open(path, "r+");
        await this.file.close();
        this.file = file;
        this.size = Buffer.byteLength(text);
      } catch {
        // As it was: larger than it need be, and whole.
      }
    });
  }
}

function diskError(cause: unknown): OutboxError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const full = code === "ENOSPC" || code === "EDQUOT";
  return new OutboxError(
    full ? "DISK_FULL" : "DISK_FAILED",
    full
      ? "The disk of the worker's state folder is full."
      : `The worker's state folder cannot be written: ${message}`,
    { cause },
  );
}

function readRecords<T>(
  text: string,
  parse: (value: unknown) => T,
): { seq: number; event: T; bytes: number }[] {
  const records: { seq: number; event: T; bytes: number }[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    try {
      const { seq, event } = JSON.parse(line) as Numbered<unknown>;
      records.push({ seq, event: parse(event), bytes: Buffer.byteLength(line) + 1 });
    } catch {
      break;
    }
  }
  return records;
}
