import { Prisma } from "@helm/db";
import { z } from "zod";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";

const HOUR_MS = 3_600_000;
export const MOST_HOURS = 720;

/** What narrows every panel of Traffic: how far back, whose requests, which pair. */
export const TrafficRange = z.object({
  hours: z.number().int().min(1).max(MOST_HOURS).default(24),
  tenant: z.string().max(200).optional(),
  pair: z.string().max(200).optional(),
});
export type TrafficRange = z.infer<typeof TrafficRange>;

export const TrafficInput = TrafficRange.default({ hours: 24 });

export interface Span {
  since: Date;
  until: Date;
}

export async function spanOf(ctx: Context, { hours }: TrafficRange): Promise<Span> {
  const until = await databaseNow(ctx.db);
  return { since: new Date(until.getTime() - hours * HOUR_MS), until };
}

export function hourOf(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / HOUR_MS) * HOUR_MS);
}

/**
 * Counters of a range, in whichever of the two tables they stand: minutes of the last hours, then whole hours. The hour in
 * which a range begins counts whole.
 */
export function statsIn(range: TrafficRange, { since }: Span): Prisma.Sql {
  const where = narrow(range);
  const columns = Prisma.sql`"bucket", "tenant_id", "pair_id", "decision", "reason", "transfer", "requests", "tokens_moved",
    "first_token_ms_sum", "shortfall_bytes_sum"`;
  return Prisma.sql`(
    SELECT ${columns} FROM "request_stat" WHERE "bucket" >= ${since} ${where}
    UNION ALL
    SELECT ${columns} FROM "request_stat_hour" WHERE "bucket" >= ${hourOf(since)} ${where}
  ) AS "stats"`;
}

export function narrow({ tenant, pair }: Pick<TrafficRange, "tenant" | "pair">): Prisma.Sql {
  const ofTenant = tenant === undefined ? Prisma.empty : Prisma.sql`AND "tenant_id" = ${tenant}`;
  return pair === undefined ? ofTenant : Prisma.sql`${ofTenant} AND "pair_id" = ${pair}`;
}
