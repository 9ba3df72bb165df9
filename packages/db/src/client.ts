import { PrismaClient } from "./generated/client";
import { OneAtATimePg } from "./one-at-a-time";

export interface DbOptions {
  /** Most connections of this process's pool. */
  poolSize?: number;
}

export type Db = PrismaClient;

/** A Prisma client on `url`; end it with `$disconnect()`. */
export function createDb(url: string, options: DbOptions = {}): Db {
  const adapter = new OneAtATimePg({
    connectionString: url,
    max: options.poolSize ?? 10,
    // A server that is away or stands still is an error soon, not a request that waits for ever.
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
    keepAlive: true,
  });
  return new PrismaClient({ adapter });
}
