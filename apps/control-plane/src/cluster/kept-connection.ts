import pg from "pg";
import type { Log } from "../logging";

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
const QUERY_MS = 10_000;
/** A database host that vanishes closes no connection: only a question finds out. */
const PROBE_MS = 15_000;

export interface KeptConnectionOptions {
  databaseUrl: string;
  name: string;
  log: Log;
  /** Run on every new connection before anyone may use it. */
  prepare?(client: pg.Client): Promise<void>;
  onNotification?(payload: string): void;
  /** After `prepare`; `again` where there was a connection before this one. */
  onConnected?(again: boolean): void;
}

/**
 * One connection that comes back by itself. A pool would not do: it hands a connection that died in use to nobody and
 * counts it for ever, so that two lost ones would fill a pool of two.
 */
export class KeptConnection {
  private current: pg.Client | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  private closed = false;
  private waitMs = FIRST_WAIT_MS;
  private timer: NodeJS.Timeout | undefined;
  private readonly probe: NodeJS.Timeout;

  constructor(private readonly options: KeptConnectionOptions) {
    this.probe = setInterval(() => void this.ask(), PROBE_MS);
    this.probe.unref();
  }

  get connected(): boolean {
    return this.current !== null;
  }

  /** One query after another. Null while there is no connection; one that fails is replaced. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[] | null> {
    const client = this.current;
    if (!client) return null;
    const asked = this.turn.then(() => client.query<Row>(text, values));
    this.turn = asked.catch(() => {});
    try {
      return (await asked).rows;
    } catch (error) {
      this.drop(client, error);
      throw error;
    }
  }

  /** The first connection; fails where there is none to be had. Later ones are tried until they succeed. */
  async open(): Promise<void> {
    await this.connect(false);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.probe);
    clearTimeout(this.timer);
    const client = this.current;
    this.current = null;
    await client?.end().catch(() => {});
  }

  private drop(client: pg.Client, why: unknown): void {
    if (this.current !== client) return;
    this.current = null;
    void client.end().catch(() => {});
    if (this.closed) return;
    this.options.log.warn({ err: why, connection: this.options.name }, "lost the database; connecting again");
    this.later();
  }

  private async connect(again: boolean): Promise<void> {
    const { databaseUrl, name, prepare, onNotification, onConnected } = this.options;
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: `helm ${name}`,
      connectionTimeoutMillis: 5_000,
      query_timeout: QUERY_MS,
      keepAlive: true,
    });
    // Without a listener an error of an idle connection would end the process.
    client.on("error", (error) => this.drop(client, error));
    client.on("end", () => this.drop(client, new Error("the connection ended")));
    client.on("notification", ({ payload }) => onNotification?.(payload ?? ""));
    try {
      await client.connect();
      await prepare?.(client);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    if (this.closed) return void client.end().catch(() => {});
    this.current = client;
    this.turn = Promise.resolve();
    this.waitMs = FIRST_WAIT_MS;
    onConnected?.(again);
  }

  private later(): void {
    this.timer = setTimeout(() => {
      this.connect(true).catch((error: unknown) => {
        this.options.log.debug({ err: error, connection: this.options.name }, "no database yet");
        if (!this.closed) this.later();
      });
    }, this.waitMs);
    this.waitMs = Math.min(this.waitMs * 2, LONGEST_WAIT_MS);
  }

  private async ask(): Promise<void> {
    await this.query("SELECT 1").catch(() => {});
  }
}
