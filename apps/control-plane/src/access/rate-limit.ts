import { randomUUID } from "node:crypto";
import { HelmError } from "@helm/contracts";
import type { Db } from "@helm/db";

export interface Limit {
  /** Tries allowed in a window. */
  max: number;
  windowMs: number;
}

const LONGEST_WINDOW_MS = 60 * 60_000;

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
  throw limited(Number(row.last_request) + limit.windowMs - now);
}

/** Whether a further try would be let in, counting none. Errors: RATE_LIMITED. */
export async function requireRoom(db: Db, key: string, limit: Limit): Promise<void> {
  const row = await db.rateLimit.findUnique({ where: { key } });
  const left = row ? Number(row.lastRequest) + limit.windowMs - Date.now() : 0;
  if (row && left > 0 && row.count >= limit.max) throw limited(left);
}

/** Counts that no window needs any more. */
export async function sweepRateLimits(db: Pick<Db, "rateLimit">): Promise<void> {
  await db.rateLimit.deleteMany({ where: { lastRequest: { lt: Date.now() - LONGEST_WINDOW_MS } } });
}

function limited(leftMs: number): HelmError {
  const retryAfterMs = Math.max(1, leftMs);
  return new HelmError("RATE_LIMITED", `Too many tries. Wait ${Math.ceil(retryAfterMs / 1000)} seconds.`, {
    retryAfterMs,
  });
}

/** Seconds after which the same request may go through; null where asking again changes nothing. */
export function retryAfter(error: HelmError): string | null {
  switch (error.code) {
    case "RATE_LIMITED":
      return String(Math.ceil(Number(error.details.retryAfterMs ?? 1_000) / 1000));
    case "DATABASE_DOWN":
    case "DATABASE_BUSY":
      return "5";
    case "STORAGE_FULL":
      return "30";
    default:
      return null;
  }
}
