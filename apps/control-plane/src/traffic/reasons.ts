import { z } from "zod";
import type { Call } from "../context";
import { spanOf, statsIn, type TrafficRange } from "./range";

export const ReasonsOutput = z.object({
  since: z.date(),
  until: z.date(),
  rows: z.array(
    z.object({
      reason: z.string(),
      /** fallback: no transfer; refusal: turned away; failure: an error of ours; client_error: the caller's; decision: why it was decided so. */
      kind: z.enum(["fallback", "refusal", "failure", "client_error", "decision"]),
      requests: z.number().int(),
      /** Of all requests of this kind. */
      share: z.number(),
      /** Bytes that were missing, of refusals with a number. */
      shortfallBytesMean: z.number().nullable(),
    }),
  ),
});

type Kind = z.infer<typeof ReasonsOutput>["rows"][number]["kind"];

/** Why requests went the way they went, most frequent first. */
export async function readReasons({
  ctx,
  input,
}: Call<TrafficRange>): Promise<z.infer<typeof ReasonsOutput>> {
  const span = await spanOf(ctx, input);
  const rows = await ctx.db.$queryRaw<{ reason: string; kind: Kind; requests: number; shortfall: number }[]>`
    SELECT "reason", CASE WHEN "decision" = 'refused' THEN 'refusal' WHEN "decision" = 'failed' THEN 'failure'
        WHEN "decision" = 'client_error' THEN 'client_error'
        WHEN "transfer" = 'fallback' THEN 'fallback' ELSE 'decision' END AS kind,
      sum("requests"::float8) AS requests, sum("shortfall_bytes_sum") AS shortfall
    FROM ${statsIn(input, span)} WHERE "reason" <> '' GROUP BY 1, 2 ORDER BY 3 DESC, 1`;
  const totals = new Map<Kind, number>();
  for (const { kind, requests } of rows) totals.set(kind, (totals.get(kind) ?? 0) + requests);
  return {
    ...span,
    rows: rows.map(({ reason, kind, requests, shortfall }) => ({
      reason,
      kind,
      requests,
      share: requests / (totals.get(kind) ?? requests),
      shortfallBytesMean: kind === "refusal" && shortfall > 0 ? shortfall / requests : null,
    })),
  };
}
