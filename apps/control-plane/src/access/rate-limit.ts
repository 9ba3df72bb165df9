import { randomUUID } from "node:crypto";
import { HelmError } from "@helm/contracts";
import type { Db } from "@helm/db";

export interface Limit {
  /** Tries allowed in a window. */
  max: number;
  windowMs: number;
}

/** A fixed window kept in the database, so that several control planes count together. */
export async function countTry(db: Db, key: string, limit: Limit): Promise<void> {
  const now = Date.now();
  const rows = await db.$queryRaw<{ count: number; last_request: bigint }[]>`
    INSERT INTO "rate_limit" ("id", "key", "count", "last_request")
    VALUES (${randomUUID()}::uuid, ${key}, 1, ${now})
    ON CONFLICT ("key") DO UPDATE SET
      "count" = CASE WHEN "rate_limit"."last_request" < ${now - limit.windowMs} THEN 1 ELSE "rate_limit"."count" + 1 END,
      "last_request" = CASE WHEN "rate_limit"."last_request" < ${now - limit.windowMs} THEN ${now} ELSE "rate_limit"."last_request" END
    RETURNING "count", "last_request"`;
  const row = rows[0];
  if (!row || row.count <= limit.max) return;
  const retryAfterMs = Math.max(1, Number(row.last_request) + limit.windowMs - now);
  throw new HelmError("RATE_LIMITED", `Too many tries. Wait ${Math.ceil(retryAfterMs / 1000)} seconds.`, {
    retryAfterMs,
  });
}
