import type { Context, Tx } from "../context";
import { databaseNow, later } from "../database-clock";

const HOUR_MS = 3_600_000;
/** Minutes stand this long; a range up to there is drawn by the minute. */
export const MINUTES_KEPT_MS = 6 * HOUR_MS;
/** A node reports every few seconds; what comes later than this is a row of its own for as long. */
const NODES_APART_MS = 2 * 60_000;
/** Of one transaction, so that years of old minutes are no transaction of minutes. */
const STEP_MS = 24 * HOUR_MS;

/** Moves old minutes into their hours, oldest first; true where more is left. A report that comes late is moved later. */
export async function compactStats(ctx: Context): Promise<boolean> {
  const now = await databaseNow(ctx.db);
  await mergeNodes(ctx.db, later(now, -NODES_APART_MS));
  const cutoff = later(now, -MINUTES_KEPT_MS);
  const oldest = await ctx.db.requestStat.findFirst({
    where: { bucket: { lt: cutoff } },
    orderBy: { bucket: "asc" },
    select: { bucket: true },
  });
  if (!oldest) {
    await compactLengths(ctx.db, cutoff);
    return false;
  }
  const until = new Date(Math.min(cutoff.getTime(), oldest.bucket.getTime() + STEP_MS));
  await ctx.db.$executeRaw`
    WITH "moved" AS (DELETE FROM "request_stat" WHERE "bucket" < ${until} RETURNING *)
    INSERT INTO "request_stat_hour" ("bucket", "tenant_id", "pair_id", "decision", "reason", "transfer", "requests",
      "tokens_moved", "first_token_ms_sum", "shortfall_bytes_sum")
    SELECT date_trunc('hour', "bucket", 'UTC'), "tenant_id", "pair_id", "decision", "reason", "transfer",
      sum("requests"), sum("tokens_moved"), sum("first_token_ms_sum"), sum("shortfall_bytes_sum")
    FROM "moved" GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT ("bucket", "tenant_id", "pair_id", "decision", "reason", "transfer") DO UPDATE SET
      "requests" = "request_stat_hour"."requests" + EXCLUDED."requests",
      "tokens_moved" = "request_stat_hour"."tokens_moved" + EXCLUDED."tokens_moved",
      "first_token_ms_sum" = "request_stat_hour"."first_token_ms_sum" + EXCLUDED."first_token_ms_sum",
      "shortfall_bytes_sum" = "request_stat_hour"."shortfall_bytes_sum" + EXCLUDED."shortfall_bytes_sum"`;
  return true;
}

/** Which node it was is of no interest once a minute is over: one row is left of what all of them counted. */
async function mergeNodes(db: Tx, cutoff: Date): Promise<void> {
  await db.$executeRaw`
    WITH "moved" AS (DELETE FROM "request_stat" WHERE "bucket" < ${cutoff} AND "node_id" <> '' RETURNING *)
    INSERT INTO "request_stat" ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer", "requests",
      "tokens_moved", "first_token_ms_sum", "shortfall_bytes_sum")
    SELECT "bucket", '', "tenant_id", "pair_id", "decision", "reason", "transfer", sum("requests"), sum("tokens_moved"),
      sum("first_token_ms_sum"), sum("shortfall_bytes_sum")
    FROM "moved" GROUP BY 1, 3, 4, 5, 6, 7
    ON CONFLICT ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer") DO UPDATE SET
      "requests" = "request_stat"."requests" + EXCLUDED."requests",
      "tokens_moved" = "request_stat"."tokens_moved" + EXCLUDED."tokens_moved",
      "first_token_ms_sum" = "request_stat"."first_token_ms_sum" + EXCLUDED."first_token_ms_sum",
      "shortfall_bytes_sum" = "request_stat"."shortfall_bytes_sum" + EXCLUDED."shortfall_bytes_sum"`;
}

/** Which node it was is of no interest once the hour is long over. */
async function compactLengths(db: Tx, cutoff: Date): Promise<void> {
  await db.$executeRaw`
    WITH "moved" AS (
      DELETE FROM "escalation_length" WHERE "bucket" < ${cutoff} AND "node_id" <> '' RETURNING *)
    INSERT INTO "escalation_length" ("bucket", "node_id", "pair_id", "transfer", "from_tokens", "requests",
      "first_token_ms_sum", "first_token_ms_squares")
    SELECT "bucket", '', "pair_id", "transfer", "from_tokens", sum("requests"), sum("first_token_ms_sum"),
      sum("first_token_ms_squares")
    FROM "moved" GROUP BY 1, 3, 4, 5
    ON CONFLICT ("bucket", "node_id", "pair_id", "transfer", "from_tokens") DO UPDATE SET
      "requests" = "escalation_length"."requests" + EXCLUDED."requests",
      "first_token_ms_sum" = "escalation_length"."first_token_ms_sum" + EXCLUDED."first_token_ms_sum",
      "first_token_ms_squares" = "escalation_length"."first_token_ms_squares" + EXCLUDED."first_token_ms_squares"`;
}
