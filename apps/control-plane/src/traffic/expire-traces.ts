import type { Context } from "../context";
import { databaseNow, later } from "../database-clock";

const HOUR_MS = 3_600_000;
/** Counters by the hour and by length: longer than any range that can be asked for. */
const COUNTERS_KEPT_MS = 400 * 24 * HOUR_MS;

/** Texts go first, then traces, then the oldest counters. By when they came: a node's clock decides nothing here. */
export async function expireTraces(ctx: Context): Promise<{ texts: number; traces: number }> {
  const now = await databaseNow(ctx.db);
  const { traceDays, traceTextHours } = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const texts = await ctx.db.$executeRaw`
    UPDATE "request_trace" SET "text" = NULL
    WHERE "text" IS NOT NULL AND "received_at" < ${later(now, -traceTextHours * HOUR_MS)}`;
  const traces = await ctx.db.requestTrace.deleteMany({
    where: { receivedAt: { lt: later(now, -traceDays * 24 * HOUR_MS) } },
  });
  const old = { bucket: { lt: later(now, -COUNTERS_KEPT_MS) } };
  await ctx.db.requestStatHour.deleteMany({ where: old });
  await ctx.db.escalationLength.deleteMany({ where: old });
  return { texts, traces: traces.count };
}
