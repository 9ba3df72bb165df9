import { z } from "zod";
import type { Call } from "../context";
import { hourOf, narrow, spanOf, type TrafficRange } from "./range";

const Side = z.object({ requests: z.number().int(), meanMs: z.number(), sdMs: z.number().nullable() });

export const LengthsOutput = z.object({
  since: z.date(),
  until: z.date(),
  rows: z.array(
    z.object({
      /** Prompts of this many tokens up to twice as many. */
      fromTokens: z.number().int(),
      transferred: Side.nullable(),
      prefilled: Side.nullable(),
      /** Prefilled less transferred, where both were seen. They are not the same requests. */
      saved: z.object({ ms: z.number(), low: z.number(), high: z.number() }).nullable(),
    }),
  ),
  /** Requests of a random share, answered both ways: each beside itself. */
  paired: z.object({
    requests: z.number().int(),
    savedMsMedian: z.number().nullable(),
    savedMsP95: z.number().nullable(),
  }),
});

interface Row {
  from_tokens: number;
  moved: boolean;
  requests: number;
  sum: number;
  squares: number;
}

/** Time to the first token of escalated answers by the prompt's length, carried across and read anew. */
export async function readLengths({
  ctx,
  input,
}: Call<TrafficRange>): Promise<z.infer<typeof LengthsOutput>> {
  const span = await spanOf(ctx, input);
  // Counted by pair alone; with a tenant named there are only its own traces to go by.
  const rows =
    input.tenant === undefined
      ? await ctx.db.$queryRaw<Row[]>`
          SELECT "from_tokens", "transfer" = 'transferred' AS moved, sum("requests"::float8) AS requests,
            sum("first_token_ms_sum") AS sum, sum("first_token_ms_squares") AS squares
          FROM "escalation_length" WHERE "bucket" >= ${hourOf(span.since)} ${narrow({ pair: input.pair })}
          GROUP BY 1, 2 ORDER BY 1`
      : await ctx.db.$queryRaw<Row[]>`
          SELECT "from_tokens", moved, count(*)::float8 AS requests, sum(ms) AS sum, sum(ms * ms) AS squares
          FROM (SELECT power(2, floor(log(2, ("document"#>>'{tokens,prompt}')::numeric)))::int AS from_tokens,
              "transfer" = 'transferred' AS moved, ("document"->>'first_token_ms')::float8 AS ms
            FROM "request_trace" WHERE "at" >= ${span.since} AND "decision" = 'escalated'
              AND ("document"#>>'{tokens,prompt}')::numeric >= 1 ${narrow(input)}) AS "own"
          WHERE ms IS NOT NULL GROUP BY 1, 2 ORDER BY 1`;
  const [paired] = await ctx.db.$queryRaw<{ n: number; median: number | null; p95: number | null }[]>`
    SELECT count(saved)::int AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY saved) AS median,
      percentile_cont(0.95) WITHIN GROUP (ORDER BY saved) AS p95
    FROM (SELECT ("document"#>>'{share,first_token_ms}')::float8 - ("document"->>'first_token_ms')::float8 AS saved
      FROM "request_trace" WHERE "share_kind" = 'escalated_also_native' AND "transfer" = 'transferred'
        AND "at" >= ${span.since} ${narrow(input)}) AS "both"`;
  const lengths = [...new Set(rows.map((row) => row.from_tokens))];
  return {
    ...span,
    rows: lengths.map((fromTokens) => {
      const side = (moved: boolean) =>
        sideOf(rows.find((row) => row.from_tokens === fromTokens && row.moved === moved));
      const [transferred, prefilled] = [side(true), side(false)];
      return { fromTokens, transferred, prefilled, saved: difference(prefilled, transferred) };
    }),
    paired: {
      requests: paired?.n ?? 0,
      savedMsMedian: paired?.median ?? null,
      savedMsP95: paired?.p95 ?? null,
    },
  };
}

type SideOf = z.infer<typeof Side> | null;

function sideOf(row: Row | undefined): SideOf {
  if (!row || row.requests === 0) return null;
  const meanMs = row.sum / row.requests;
  const spread = (row.squares - row.requests * meanMs ** 2) / (row.requests - 1);
  return { requests: row.requests, meanMs, sdMs: row.requests > 1 ? Math.sqrt(Math.max(0, spread)) : null };
}

/** The means' difference with its 95 % interval by their spreads; null where one side is missing or was seen once. */
function difference(prefilled: SideOf, transferred: SideOf) {
  if (!prefilled || !transferred || prefilled.sdMs === null || transferred.sdMs === null) return null;
  const ms = prefilled.meanMs - transferred.meanMs;
  const half =
    1.96 * Math.sqrt(prefilled.sdMs ** 2 / prefilled.requests + transferred.sdMs ** 2 / transferred.requests);
  return { ms, low: ms - half, high: ms + half };
}
