import { Prisma } from "@helm/db";
import { z } from "zod";
import type { Call, Context } from "../context";
import { readNames } from "./names";
import { Proportion, proportion } from "./proportion";
import { hourOf, narrow, type Span, spanOf, type TrafficRange } from "./range";

const Counts = z.object({
  requests: z.number().int(),
  kept: z.number().int(),
  escalated: z.number().int(),
  direct: z.number().int(),
  explicit: z.number().int(),
  refused: z.number().int(),
  failed: z.number().int(),
  /** The caller's own mistakes, and callers who left before they had an answer. */
  clientErrors: z.number().int(),
  transferred: z.number().int(),
  fallbacks: z.number().int(),
  tokensMoved: z.number().int(),
  shortfallBytes: z.number(),
  /** Of answers that the judge looked at: not those of an agent's wish, a held session, or a mode that never escalates. */
  judged: z.number().int(),
  judgedHard: z.number().int(),
});
export type Counts = z.infer<typeof Counts>;

const Part = Counts.extend({ id: z.string(), name: z.string(), escalation: Proportion.nullable() });

export const SummaryOutput = z.object({
  since: z.date(),
  until: z.date(),
  total: Counts,
  escalation: Proportion.nullable(),
  transfers: Proportion.nullable(),
  firstTokenMsMean: z.number().nullable(),
  tenants: z.array(Part),
  pairs: z.array(Part),
  traces: z.object({
    kept: z.number().int(),
    oldestAt: z.date().nullable(),
    /** On the nodes that are there now, ever. */
    dropped: z.number().int(),
    rate: z.number(),
    days: z.number().int(),
    textHours: z.number().int(),
  }),
});

interface Row {
  tenant_id: string;
  pair_id: string;
  decision: string;
  reason: string;
  transfer: string;
  requests: number;
  tokens_moved: number;
  first_token_ms_sum: number;
  shortfall_bytes_sum: number;
}

const UNJUDGED: ReadonlySet<string> = new Set([
  "STREAM_MODE",
  "TOOL_LOOP",
  "AGENT",
  "SESSION_HELD",
  "RETURNED",
  "FORCED_SHARE",
]);
const ANSWERED: ReadonlySet<string> = new Set(["kept", "escalated", "direct", "explicit"]);

/** Counters of all nodes over a range, in all, by tenant and by pair. */
export async function summariseTraffic({
  ctx,
  input,
}: Call<TrafficRange>): Promise<z.infer<typeof SummaryOutput>> {
  const span = await spanOf(ctx, input);
  const rows = await readRows(ctx, input, span);
  const names = await readNames(
    ctx,
    rows.map(({ tenant_id }) => tenant_id),
  );
  const total = sum(rows);
  const answered = rows.filter(({ decision }) => ANSWERED.has(decision));
  const answers = answered.reduce((all, { requests }) => all + requests, 0);
  const firstTokens = answered.reduce((all, row) => all + row.first_token_ms_sum, 0);
  return {
    ...span,
    total,
    escalation: proportion(total.judgedHard, total.judged),
    transfers: proportion(total.transferred, total.escalated),
    firstTokenMsMean: answers > 0 ? firstTokens / answers : null,
    tenants: parts(
      rows,
      ({ tenant_id }) => tenant_id,
      (id) => names.tenant(id),
    ),
    pairs: parts(
      rows.filter(({ pair_id }) => pair_id !== ""),
      ({ pair_id }) => pair_id,
      (id) => names.pair(id) ?? id,
    ),
    traces: await describeTraces(ctx, input, span),
  };
}

async function readRows(ctx: Context, range: TrafficRange, span: Span): Promise<Row[]> {
  const sums = Prisma.sql`"tenant_id", "pair_id", "decision", "reason", "transfer", sum("requests"::float8) AS requests,
    sum("tokens_moved"::float8) AS tokens_moved, sum("first_token_ms_sum") AS first_token_ms_sum,
    sum("shortfall_bytes_sum") AS shortfall_bytes_sum`;
  const where = narrow(range);
  // Each table by itself first: what the database knows of how many ways there are it knows of a table. Of bigint it would
  // make sums of numeric, which take twice as long.
  return ctx.db.$queryRaw<Row[]>`
    SELECT ${sums} FROM (
      SELECT ${sums} FROM "request_stat" WHERE "bucket" >= ${span.since} ${where} GROUP BY 1, 2, 3, 4, 5
      UNION ALL
      SELECT ${sums} FROM "request_stat_hour" WHERE "bucket" >= ${hourOf(span.since)} ${where} GROUP BY 1, 2, 3, 4, 5
    ) AS "both" GROUP BY 1, 2, 3, 4, 5`;
}

function parts(rows: Row[], of: (row: Row) => string, name: (id: string) => string) {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(of(row), [...(groups.get(of(row)) ?? []), row]);
  return [...groups]
    .map(([id, own]) => {
      const counts = sum(own);
      return { id, name: name(id), ...counts, escalation: proportion(counts.judgedHard, counts.judged) };
    })
    .sort((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1));
}

function sum(rows: Row[]): Counts {
  const total = (of: (row: Row) => boolean) =>
    rows.reduce((all, row) => all + (of(row) ? row.requests : 0), 0);
  const by = (decision: string) => total((row) => row.decision === decision);
  const judged = (row: Row) =>
    (row.decision === "kept" || row.decision === "escalated") && !UNJUDGED.has(row.reason);
  const escalated = (row: Row) => row.decision === "escalated";
  return {
    requests: total(() => true),
    kept: by("kept"),
    escalated: by("escalated"),
    direct: by("direct"),
    explicit: by("explicit"),
    refused: by("refused"),
    failed: by("failed"),
    clientErrors: by("client_error"),
    transferred: total((row) => escalated(row) && row.transfer === "transferred"),
    fallbacks: total((row) => row.transfer === "fallback"),
    tokensMoved: rows.reduce((all, row) => all + row.tokens_moved, 0),
    shortfallBytes: rows.reduce((all, row) => all + row.shortfall_bytes_sum, 0),
    judged: total(judged),
    judgedHard: total((row) => judged(row) && escalated(row)),
  };
}

async function describeTraces(ctx: Context, range: TrafficRange, { since }: Span) {
  const [found] = await ctx.db.$queryRaw<{ kept: number; oldest: Date | null }[]>`
    SELECT count(*)::int AS kept, min("at") AS oldest FROM "request_trace"
    WHERE "at" >= ${since} ${narrow(range)}`;
  const dropped = await ctx.db.nodeState.aggregate({ _sum: { tracesDropped: true } });
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  return {
    kept: found?.kept ?? 0,
    oldestAt: found?.oldest ?? null,
    dropped: Number(dropped._sum.tracesDropped ?? 0),
    rate: setting.traceRate,
    days: setting.traceDays,
    textHours: setting.traceTextHours,
  };
}
