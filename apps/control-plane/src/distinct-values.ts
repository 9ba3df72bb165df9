import type { Prisma } from "@helm/db";
import type { Tx } from "./context";

/** More names than a list to choose from can show. */
const MOST = 500;

/**
 * Every value of an indexed column, in order. A step of the recursion jumps to the next one in the index, so that a million
 * rows of twenty values cost twenty look-ups.
 */
export async function readDistinct(db: Tx, table: Prisma.Sql, column: Prisma.Sql): Promise<string[]> {
  const found = await db.$queryRaw<{ value: string }[]>`
    WITH RECURSIVE one AS (
      (SELECT ${column} AS value FROM ${table} ORDER BY ${column} LIMIT 1)
      UNION ALL
      SELECT (SELECT ${column} FROM ${table} WHERE ${column} > one.value ORDER BY ${column} LIMIT 1)
      FROM one WHERE one.value IS NOT NULL
    ) SELECT value FROM one WHERE value IS NOT NULL LIMIT ${MOST}`;
  return found.map(({ value }) => value);
}
