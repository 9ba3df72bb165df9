import { randomUUID } from "node:crypto";
import { ConfigError } from "../config";
import type { Log } from "../logging";
import { KeptConnection } from "./kept-connection";

const CHANNEL = "helm";
/** Held by every control plane of a database for as long as it lives: who asks knows at once who is there. */
const ALIVE_LOCK = 7_210_116_020;
/** NOTIFY takes less than 8,000 bytes; what is longer goes through a table. */
const MOST_BYTES = 7_900;
const MOST_WAITING = 1_000;
const MOST_AT_ONCE = 100;
const SENDER_KEPT_MS = 10 * 60_000;
const SWEEP_MS = 30_000;

export interface BusOptions {
  databaseUrl: string;
  log: Log;
  /** The database ends with this process's launcher, so no other control plane may rely on it. */
  alone: boolean;
}

interface Envelope {
  from: string;
  /** Counts from 1 in each process; the receivers know by it what they have missed. */
  n: number;
  body: unknown;
}

/**
 * What control planes of one database tell each other, over LISTEN and NOTIFY on two connections of their own: in each
 * sender's order, nothing twice. What is lost (the database was away for long) is noticed and told to `onGap`.
 */
export class Bus {
  private readonly id = randomUUID();
  private readonly listener: KeptConnection;
  private readonly speaker: KeptConnection;
  private sent = 0;
  private waiting: string[] = [];
  private speaking = false;
  private hearing: Promise<void> = Promise.resolve();
  private readonly heard = new Map<string, { n: number; at: number }>();
  private readonly sweeper: NodeJS.Timeout;
  private closed = false;
  onMessage: (body: unknown) => void = () => {};
  /** Something may have been missed: read the rows again. */
  onGap: (why: string) => void = () => {};

  private constructor(private readonly options: BusOptions) {
    const { databaseUrl, log } = options;
    this.listener = new KeptConnection({
      databaseUrl,
      log,
      name: "listener",
      prepare: async (client) => {
        const lock = options.alone ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared";
        const { rows } = await client.query<{ held: boolean }>(`SELECT ${lock}($1) AS held`, [ALIVE_LOCK]);
        if (!rows[0]?.held) throw new NotAlone(options.alone);
        await client.query(`LISTEN "${CHANNEL}"`);
      },
      onNotification: (payload) => this.hear(payload),
      onConnected: (again) => {
        if (again) this.onGap("the connection that listens was lost and is back");
      },
    });
    this.speaker = new KeptConnection({
      databaseUrl,
      log,
      name: "speaker",
      onConnected: () => void this.speak(),
    });
    this.sweeper = setInterval(() => void this.sweep(), SWEEP_MS);
    this.sweeper.unref();
  }

  static async open(options: BusOptions): Promise<Bus> {
    const bus = new Bus(options);
    try {
      await patiently(() => bus.listener.open());
      await bus.speaker.open();
      return bus;
    } catch (error) {
      await bus.close();
      throw error;
    }
  }

  /** Never waits and never fails: without a database it is kept for a while and sent afterwards. */
  publish(body: unknown): void {
    if (this.closed) return;
    this.sent += 1;
    this.waiting.push(JSON.stringify({ from: this.id, n: this.sent, body } satisfies Envelope));
    // The oldest goes: the others see its number missing and read the rows.
    if (this.waiting.length > MOST_WAITING) this.waiting.shift();
    void this.speak();
  }

  /** How many other control planes are connected to this database now. */
  async others(): Promise<number> {
    const rows = await this.listener.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_locks
       WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid() AND objsubid = 1
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND (classid::bigint << 32 | objid::bigint) = $1`,
      [ALIVE_LOCK],
    );
    return rows?.[0]?.n ?? 0;
  }

  /** What waits goes out first, where that is possible. */
  async close(): Promise<void> {
    const until = Date.now() + 1_000;
    while ((this.waiting.length > 0 || this.speaking) && this.speaker.connected && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 5));
    this.closed = true;
    clearInterval(this.sweeper);
    await Promise.all([this.listener.close(), this.speaker.close()]);
  }

  private async speak(): Promise<void> {
    if (this.speaking) return;
    this.speaking = true;
    try {
      while (this.waiting.length > 0 && this.speaker.connected) {
        const batch = this.nextBatch();
        const [first = ""] = batch;
        const done = isLong(first)
          ? await this.speaker.query(
              `WITH stored AS (INSERT INTO "socket_attachment" ("payload") VALUES ($2) RETURNING "id")
             SELECT pg_notify($1, '@' || "id") FROM stored`,
              [CHANNEL, first],
            )
          : await this.speaker.query(
              `SELECT pg_notify($1, said) FROM unnest($2::text[]) WITH ORDINALITY AS t(said, i) ORDER BY i`,
              [CHANNEL, batch],
            );
        if (!done) return;
        // By identity: while this was under way the oldest may have been dropped for want of room.
        const said = new Set(batch);
        this.waiting = this.waiting.filter((one) => !said.has(one));
      }
    } catch {
      // Whether it was sent is not known: it is sent again on the next connection, and who has it knows its number.
    } finally {
      this.speaking = false;
    }
  }

  private nextBatch(): string[] {
    const [first = ""] = this.waiting;
    if (isLong(first)) return [first];
    const end = this.waiting.findIndex((said) => isLong(said));
    return this.waiting.slice(0, Math.min(end === -1 ? this.waiting.length : end, MOST_AT_ONCE));
  }

  /** One after the other: a long message that has to be fetched does not let a short one pass. */
  private hear(payload: string): void {
    this.hearing = this.hearing
      .then(async () => this.take(payload.startsWith("@") ? await this.fetch(payload.slice(1)) : payload))
      .catch((error: unknown) => this.gap(`a message could not be taken: ${String(error)}`));
  }

  private async fetch(id: string): Promise<string> {
    const found = await this.listener.query<{ payload: string }>(
      `SELECT "payload" FROM "socket_attachment" WHERE "id" = $1`,
      [id],
    );
    const payload = found?.[0]?.payload;
    if (payload === undefined) throw new Error(`attachment ${id} is gone`);
    return payload;
  }

  private take(text: string): void {
    const { from, n, body } = JSON.parse(text) as Envelope;
    if (from === this.id || this.closed) return;
    const before = this.heard.get(from);
    if (before && n <= before.n) return;
    this.heard.set(from, { n, at: Date.now() });
    if (before && n !== before.n + 1) this.gap(`${n - before.n - 1} messages of another control plane`);
    this.onMessage(body);
  }

  private gap(why: string): void {
    this.options.log.info({ why }, "missed something: reading the rows");
    this.onGap(why);
  }

  /** Attachments are read within a second or never. Any control plane may take them away. */
  async sweep(): Promise<void> {
    const old = Date.now() - SENDER_KEPT_MS;
    for (const [from, { at }] of this.heard) if (at < old) this.heard.delete(from);
    await this.speaker
      .query(`DELETE FROM "socket_attachment" WHERE "created_at" < now() - interval '60 seconds'`)
      .catch(() => {});
  }
}

function isLong(said: string): boolean {
  return Buffer.byteLength(said) > MOST_BYTES;
}

class NotAlone extends ConfigError {
  constructor(alone: boolean) {
    super(
      alone
        ? "Another control plane uses the database that was brought up here. Stop it, or give both a PostgreSQL of your own with DATABASE_URL."
        : "This database was brought up by `npm start` for its own control plane and ends with it. For a second control plane give both a PostgreSQL of your own with DATABASE_URL (docs/two-control-planes.md).",
    );
  }
}

/** A predecessor that was killed a moment ago may not be gone yet. */
async function patiently(open: () => Promise<void>): Promise<void> {
  const until = Date.now() + 5_000;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof NotAlone) || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
