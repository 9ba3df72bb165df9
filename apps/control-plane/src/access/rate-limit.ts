import { randomUUID } from "node:crypto";
import { HelmError } from "@helm/contracts";
import type { Db } from "@helm/db";

export interface Limit {
  /** Tries allowed in a window. */
  max: number;
  windowMs: number;
}

const LONGEST_WINDOW_MS = 60 * 60_000;

/** A try that was counted, in the window that it fell into. */
export interface Try {
  key: string;
  since: bigint;
}

/** A fixed window kept in the database, so that several control planes count together. Errors: RATE_LIMITED. */
export async function countTry(db: Db, key: string, limit: Limit): Promise<Try> {
  const now = Date.now();
  const rows = await db.$queryRaw<{ count: number; last_request: bigint }[]>`
    INSERT INTO "rate_limit" ("id", "key", "count", "last_request")
    VALUES (${randomUUID()}::uuid, ${key}, 1, ${now})
    ON CONFLICT ("key") DO UPDATE SET
      "count" = CASE WHEN "rate_limit"."last_request" < ${now - limit.windowMs} THEN 1 ELSE "rate_limit"."count" + 1 END,
      "last_request" = CASE WHEN "rate_limit"."last_request" < ${now - limit.windowMs} THEN ${now} ELSE "rate_limit"."last_request" END
    RETURNING "count", "last_request"`;
  const row = rows[0];
  const since = row?.last_request ?? BigInt(now);
  if (!row || row.count <= limit.max) return { key, since };
  throw limited(Number(since) + limit.windowMs - now);
}

/** Uncounts, where the window is still the same. */
export async function giveBack(db: Db, tries: Try[]): Promise<void> {
  for (const { key, since } of tries) {
    const where = { key, lastRequest: since, count: { gt: 0 } };
    await db.rateLimit.updateMany({ where, data: { count: { decrement: 1 } } });
  }
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
