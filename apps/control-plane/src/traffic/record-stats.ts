import { createHash } from "node:crypto";
import type { NodeStats } from "@helm/contracts";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { actingHost } from "../host/acting-host";

/** Of a node: it sends one report until that is taken, so that a few would do. */
const REPORTS_KEPT = 32;

/**
 * Adds a node's counters to their minute, once a report: it is known by its id, never by its time, or what a node counts
 * after its clock was set back would be taken for a repetition. A clock that runs ahead is believed up to now.
 */
export async function recordStats({ ctx, input }: Call<NodeStats>): Promise<{ counted: boolean }> {
  const nodeId = actingHost(ctx, "node").id;
  await ctx.db.nodeState.upsert({ where: { nodeId }, create: { nodeId }, update: {} });
  await ctx.db.$executeRaw`SELECT 1 FROM "node_state" WHERE "node_id" = ${nodeId}::uuid FOR UPDATE`;
  const state = await ctx.db.nodeState.findUniqueOrThrow({ where: { nodeId } });
  const report = input.id ?? digestOf(input);
  if (state.statsReports.includes(report)) return { counted: false };
  const now = await databaseNow(ctx.db);
  const until = new Date(Math.min(now.getTime(), new Date(input.until).getTime()));
  const bucket = new Date(Math.floor(until.getTime() / 60_000) * 60_000);
  for (const row of input.rows) {
    await ctx.db.$executeRaw`
      INSERT INTO "request_stat" ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer",
        "requests", "tokens_moved", "first_token_ms_sum")
      VALUES (${bucket}, ${nodeId}, ${row.tenant_id}, ${row.pair_id ?? ""}, ${row.decision}, ${row.reason ?? ""},
        ${row.transfer ?? ""}, ${row.requests}, ${row.tokens_moved}, ${row.first_token_ms_sum})
      ON CONFLICT ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer") DO UPDATE SET
        "requests" = "request_stat"."requests" + EXCLUDED."requests",
        "tokens_moved" = "request_stat"."tokens_moved" + EXCLUDED."tokens_moved",
        "first_token_ms_sum" = "request_stat"."first_token_ms_sum" + EXCLUDED."first_token_ms_sum"`;
  }
  await recordKeyUse(ctx, input.keys ?? [], now.getTime());
  const statsReports = [report, ...state.statsReports].slice(0, REPORTS_KEPT);
  await ctx.db.nodeState.update({ where: { nodeId }, data: { statsUntil: until, statsReports } });
  return { counted: true };
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
