import type { Db } from "@helm/db";

const EVERY_MS = 5_000;

/** Keeps the database from one more write at each request of a busy host. Steady time: a clock may be set meanwhile. */
const noted = new Map<string, number>();

/** Notes at the database's time that a host was there; who is connected is judged by the same clock. */
export async function noteRequest(db: Db, host: string): Promise<void> {
  const last = noted.get(host);
  const now = performance.now();
  if (last !== undefined && now - last < EVERY_MS) return;
  await db.$executeRaw`UPDATE "host" SET "last_seen_at" = clock_timestamp() WHERE "id" = ${host}::uuid`;
  noted.set(host, now);
}
