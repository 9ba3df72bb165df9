import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "./atomic-file";

export interface Numbered<T> {
  seq: number;
  event: T;
}

const NAME = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * A durable queue of one job's events, numbered from 1 without gaps. Events are appended to a file and stay until they
 * are acknowledged, so that what happened while the control plane was away is delivered afterwards, in order.
 */
export class Outbox<T> {
  private waiting: Numbered<T>[];
  private writing: Promise<void> = Promise.resolve();
  private failure: unknown = null;
  private constructor(
    /** Where the queue lies; a job's own notes may lie beside it and go with it. */
    readonly folder: string,
    private readonly file: FileHandle,
    private next: number,
    private acked: number,
    records: Numbered<T>[],
  ) {
    this.waiting = records.filter((record) => record.seq > acked);
  }

  /** Opens the queue `name`, as far as it was written whole; a line cut by a crash is dropped. */
  static async open<T>(directory: string, name: string, parse: (value: unknown) => T): Promise<Outbox<T>> {
    if (!NAME.test(name)) throw new Error(`"${name}" is no name of an outbox.`);
    const folder = join(directory, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, "events.jsonl");
    const { records, cut } = readRecords(await readFile(path, "utf8").catch(() => ""), parse);
    if (cut) await writeFileAtomic(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const acked = Number(await readFile(join(folder, "acked"), "utf8").catch(() => "0")) || 0;
    const last = records.at(-1)?.seq ?? 0;
    return new Outbox(folder, await open(path, "a", 0o600), Math.max(last, acked) + 1, acked, records);
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

  /** Numbers the event and queues it; `flush` waits until it is on disk. */
  append(event: T): number {
    const record = { seq: this.next++, event };
    this.waiting.push(record);
    const line = `${JSON.stringify(record)}\n`;
    this.writing = this.writing
      .then(() => this.file.appendFile(line))
      .catch((error) => {
        this.failure = error;
      });
    return record.seq;
  }

  /** Errors: what writing ran into, a full disk for one. */
  async flush(): Promise<void> {
    await this.writing;
    if (this.failure) throw this.failure;
    await this.file.sync();
  }

  /** The oldest events not yet acknowledged, in order. */
  pending(limit: number): Numbered<T>[] {
    return this.waiting.slice(0, limit);
  }

  /** Forgets everything up to `seq`. */
  async ack(seq: number): Promise<void> {
    if (seq <= this.acked) return;
    this.acked = Math.min(seq, this.lastSeq);
    this.waiting = this.waiting.filter((record) => record.seq > this.acked);
    await writeFileAtomic(join(this.folder, "acked"), String(this.acked));
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
}

function readRecords<T>(
  text: string,
  parse: (value: unknown) => T,
): { records: Numbered<T>[]; cut: boolean } {
  const lines = text.split("\n");
  const records: Numbered<T>[] = [];
  for (const line of lines.slice(0, -1)) {
    try {
      const { seq, event } = JSON.parse(line) as Numbered<unknown>;
      records.push({ seq, event: parse(event) });
    } catch {
      return { records, cut: true };
    }
  }
  return { records, cut: lines.at(-1) !== "" };
}
