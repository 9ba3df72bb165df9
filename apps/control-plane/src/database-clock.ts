import type { Db } from "@helm/db";
import type { Tx } from "./context";

/**
 * What leases, deadlines and presence are judged by: the one clock that every control plane shares. A process's own may be
 * wrong by hours and may jump. Not `now()`: that stands still in a transaction, which may have waited for a lock.
 */
export async function databaseNow(db: Tx | Db): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
  if (!row) throw new Error("the database told no time");
  return row.now;
}

export function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}
