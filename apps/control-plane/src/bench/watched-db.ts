import { OneAtATimePg, PrismaClient } from "@helm/db";
import pg from "pg";

export interface Said {
  text: string;
  values: unknown[];
}

/** A client of the database that keeps what it asks, as it goes over the wire, so that each can be explained. */
export function watchedDb(databaseUrl: string) {
  const said: Said[] = [];
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [first, second] = given;
      const config = first as { text?: string; values?: unknown[] };
      const text = typeof first === "string" ? first : (config.text ?? "");
      said.push({ text, values: config.values ?? (Array.isArray(second) ? second : []) });
      return query(...given);
    }) as typeof client.query;
  });
  const db = new PrismaClient({ adapter: new OneAtATimePg(pool) });
  return {
    db,
    /** What was asked since the last time. */
    take: () => said.splice(0),
    stop: async () => {
      await db.$disconnect();
      await pool.end().catch(() => {});
    },
  };
}
