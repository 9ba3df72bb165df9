import { z } from "zod";
import type { Call } from "../context";
import { spanOf, statsIn, type TrafficRange } from "./range";

export const SeriesOutput = z.object({
  since: z.date(),
  until: z.date(),
  /** Seconds of one point. */
  stepS: z.number().int(),
  points: z.array(
    z.object({
      at: z.date(),
      pilot: z.number().int(),
      transferred: z.number().int(),
      /** Escalated, and the target read the prompt itself. */
      prefilled: z.number().int(),
      direct: z.number().int(),
      explicit: z.number().int(),
      refused: z.number().int(),
      failed: z.number().int(),
      clientErrors: z.number().int(),
    }),
  ),
});

type Point = z.infer<typeof SeriesOutput>["points"][number];

/** A point a minute for the last hour, wider ones for more; beyond the hours that minutes are kept, whole hours. */
export function stepOf(hours: number): number {
  if (hours <= 1) return 60;
  if (hours <= 6) return 300;
  if (hours <= 72) return 3_600;
  return hours <= 240 ? 4 * 3_600 : 12 * 3_600;
}

/** Who answered, over time; a stretch without requests is a point of zeros, so that a line does not jump over it. */
export async function readSeries({ ctx, input }: Call<TrafficRange>): Promise<z.infer<typeof SeriesOutput>> {
  const span = await spanOf(ctx, input);
  const stepS = stepOf(input.hours);
  const rows = await ctx.db.$queryRaw<(Omit<Point, "at"> & { at: number })[]>`
    SELECT (floor(extract(epoch FROM "bucket") / ${stepS}) * ${stepS})::float8 AS at,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'kept'), 0) AS pilot,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'escalated' AND "transfer" = 'transferred'), 0) AS transferred,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'escalated' AND "transfer" <> 'transferred'), 0) AS prefilled,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'direct'), 0) AS direct,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'explicit'), 0) AS explicit,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'refused'), 0) AS refused,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'failed'), 0) AS failed,
      coalesce(sum("requests") FILTER (WHERE "decision" = 'client_error'), 0) AS "clientErrors"
    FROM (SELECT "bucket", "decision", "transfer", sum("requests"::float8) AS "requests"
      FROM ${statsIn(input, span)} GROUP BY 1, 2, 3) AS "ways" GROUP BY 1`;
  const found = new Map(rows.map((row) => [row.at, row]));
  const points: Point[] = [];
  const first = Math.floor(span.since.getTime() / 1_000 / stepS) * stepS;
  for (let at = first; at * 1_000 <= span.until.getTime(); at += stepS) {
    points.push({ ...(found.get(at) ?? NOTHING), at: new Date(at * 1_000) });
  }
  return { ...span, stepS, points };
}

const NOTHING = {
  pilot: 0,
  transferred: 0,
  prefilled: 0,
  direct: 0,
  explicit: 0,
  refused: 0,
  failed: 0,
  clientErrors: 0,
};
