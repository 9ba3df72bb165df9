import { z } from "zod";
import type { Call } from "../context";
import { Curves, type JudgedRequest, MOST_POINTS, qualityCurves } from "./quality-curves";
import { narrow, spanOf, type TrafficRange } from "./range";

export const QualityOutput = z.object({
  since: z.date(),
  until: z.date(),
  /** Requests of the shares where both answers are known with their quality. */
  requests: z.number().int(),
  /** Below this many nothing is drawn. */
  needed: z.number().int(),
  /** Whether quality is a verifier's word or the target's mean log-likelihood of the answer. */
  measure: z.enum(["mean_loglik", "verifier"]).nullable(),
  curves: Curves.nullable(),
});

const LEAST = 30;
/** The newest ones: enough for any interval, and bounded. */
const MOST = 5_000;

interface Row {
  pilot: number;
  target: number;
  score: number | null;
  escalate: boolean;
  pilot_ms: number;
  target_ms: number;
  weight: number;
}

/**
 * What escalating more or less would have brought: quality against device time along the judge's own order, beside chance
 * at the same rate and the best order there is. From random shares alone, each weighted by what it stands for.
 */
export async function readQuality({
  ctx,
  input,
}: Call<TrafficRange>): Promise<z.infer<typeof QualityOutput>> {
  const span = await spanOf(ctx, input);
  const rows = await ctx.db.$queryRaw<Row[]>`
    SELECT (share->>'pilot_mean_loglik')::float8 AS pilot, (share->>'target_mean_loglik')::float8 AS target,
      CASE WHEN judge->>'measure' = 'probability' THEN (judge->>'score')::float8
        ELSE -(judge->>'score')::float8 END AS score,
      judge->>'escalate' = 'true' AS escalate,
      coalesce((SELECT max((leg->>'ended_ms')::float8 - (leg->>'started_ms')::float8)
        FROM jsonb_array_elements(legs) leg WHERE leg->>'role' = 'pilot'), 0) AS pilot_ms,
      coalesce((SELECT max((leg->>'ended_ms')::float8 - (leg->>'started_ms')::float8)
        FROM jsonb_array_elements(legs) leg WHERE leg->>'role' IN ('target', 'share')), 0) AS target_ms,
      1 / (share->>'propensity')::float8 AS weight
    FROM (SELECT "document"->'share' AS share, "document"->'judge' AS judge, "document"->'legs' AS legs
      FROM "request_trace" WHERE "share_kind" <> '' AND "at" >= ${span.since} ${narrow(input)}
      ORDER BY "at" DESC LIMIT ${MOST}) AS "shares"
    WHERE share->>'pilot_mean_loglik' IS NOT NULL AND share->>'target_mean_loglik' IS NOT NULL
      AND judge->>'score' IS NOT NULL`;
  const judged = rows.flatMap((row): JudgedRequest[] =>
    row.score === null ? [] : [{ ...row, score: row.score, pilotMs: row.pilot_ms, targetMs: row.target_ms }],
  );
  const enough = judged.length >= LEAST;
  return {
    ...span,
    requests: judged.length,
    needed: LEAST,
    measure: enough ? "mean_loglik" : null,
    curves: enough ? qualityCurves(judged, MOST_POINTS) : null,
  };
}
