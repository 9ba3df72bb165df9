import { createHash } from "node:crypto";
import type { NodeStats, StatsLength } from "@helm/contracts";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { actingHost } from "../host/acting-host";
import { hourOf } from "./range";

/** Of a node: it sends one report until that is taken, so that a few would do. */
const REPORTS_KEPT = 32;

/**
 * Adds a node's counters to their minute, once a report: it is known by its id, never by its time, or what a node counts
 * after its clock was set back would be taken for a repetition. A clock that runs ahead is believed up to now.
 */
export async function recordStats({ ctx, input }: Call<NodeStats>): Promise<{ counted: boolean }> {
  const nodeId = actingHost(ctx, "node").id;
  await ctx.db.nodeState.upsert({ where: { nodeId }, create: { nodeId }, update: {} });
  await ctx.db.$executeRaw`SELECT 1 FROM "node_state" WHERE "node_id" = ${nodeId}::uuid FOR NO KEY UPDATE`;
  const state = await ctx.db.nodeState.findUniqueOrThrow({ where: { nodeId } });
  const report = input.id ?? digestOf(input);
  if (state.statsReports.includes(report)) return { counted: false };
  const now = await databaseNow(ctx.db);
  const until = new Date(Math.min(now.getTime(), new Date(input.until).getTime()));
  await addRows(ctx, nodeId, new Date(Math.floor(until.getTime() / 60_000) * 60_000), input.rows);
  await addLengths(ctx, nodeId, hourOf(until), input.lengths ?? []);
  await recordKeyUse(ctx, input.keys ?? [], now.getTime());
  const statsReports = [report, ...state.statsReports].slice(0, REPORTS_KEPT);
  const tracesDropped = { increment: input.traces_dropped ?? 0 };
  await ctx.db.nodeState.update({
    where: { nodeId },
    data: { statsUntil: until, statsReports, tracesDropped },
  });
  return { counted: true };
}

/** One statement a report, however many rows it has: only this node writes them, so nothing waits for anybody. */
async function addRows(ctx: Context, nodeId: string, bucket: Date, rows: NodeStats["rows"]): Promise<void> {
  await ctx.db.$executeRaw`
    INSERT INTO "request_stat" ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer",
      "requests", "tokens_moved", "first_token_ms_sum", "shortfall_bytes_sum")
    SELECT ${bucket}::timestamptz, ${nodeId}::text, "tenant_id", coalesce("pair_id", ''), "decision", coalesce("reason", ''),
      coalesce("transfer", ''), sum("requests"), sum("tokens_moved"), sum("first_token_ms_sum"),
      sum(coalesce("shortfall_bytes_sum", 0))
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS "given" ("tenant_id" text, "pair_id" text,
      "decision" text, "reason" text, "transfer" text, "requests" bigint, "tokens_moved" bigint,
      "first_token_ms_sum" double precision, "shortfall_bytes_sum" double precision)
    GROUP BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer") DO UPDATE SET
      "requests" = "request_stat"."requests" + EXCLUDED."requests",
      "tokens_moved" = "request_stat"."tokens_moved" + EXCLUDED."tokens_moved",
      "first_token_ms_sum" = "request_stat"."first_token_ms_sum" + EXCLUDED."first_token_ms_sum",
      "shortfall_bytes_sum" = "request_stat"."shortfall_bytes_sum" + EXCLUDED."shortfall_bytes_sum"`;
}

async function addLengths(ctx: Context, nodeId: string, hour: Date, lengths: StatsLength[]): Promise<void> {
  if (lengths.length === 0) return;
  await ctx.db.$executeRaw`
    INSERT INTO "escalation_length" ("bucket", "node_id", "pair_id", "transfer", "from_tokens", "requests",
      "first_token_ms_sum", "first_token_ms_squares")
    SELECT ${hour}::timestamptz, ${nodeId}::text, "pair_id", "transfer", "from_tokens", sum("requests"), sum("first_token_ms_sum"),
      sum("first_token_ms_squares")
    FROM jsonb_to_recordset(${JSON.stringify(lengths)}::jsonb) AS "given" ("pair_id" text, "transfer" text,
      "from_tokens" integer, "requests" bigint, "first_token_ms_sum" double precision,
      "first_token_ms_squares" double precision)
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT ("bucket", "node_id", "pair_id", "transfer", "from_tokens") DO UPDATE SET
      "requests" = "escalation_length"."requests" + EXCLUDED."requests",
      "first_token_ms_sum" = "escalation_length"."first_token_ms_sum" + EXCLUDED."first_token_ms_sum",
      "first_token_ms_squares" = "escalation_length"."first_token_ms_squares" + EXCLUDED."first_token_ms_squares"`;
}

/** An older node gives its reports no id, and repeats them to the letter: two of them differ in when they begin and end. */
function digestOf(input: NodeStats): string {
  return createHash("sha256").update(JSON.stringify(input)).digest("hex");
}

/**
 * Last use to the minute, and only forward: a key that is in use costs one write a minute, whatever its requests. A node
 * whose clock runs ahead is believed up to now.
 */
async function recordKeyUse(
  ctx: Context,
  keys: { prefix: string; last_used_at: string }[],
  now: number,
): Promise<void> {
  // In one order, so that two nodes that report the same keys wait for each other and do not lock.
  for (const { prefix, last_used_at } of [...keys].sort((a, b) => (a.prefix < b.prefix ? -1 : 1))) {
    const at = Math.min(now, new Date(last_used_at).getTime());
    const minute = new Date(Math.floor(at / 60_000) * 60_000);
    await ctx.db.apiKey.updateMany({
      where: { prefix, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: minute } }] },
      data: { lastUsedAt: minute },
    });
  }
}
