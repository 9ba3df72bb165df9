import { Assessment, CalibrationScores, CostPoint } from "@helm/contracts";
import { breakEvenOf } from "@helm/pairing";
import { z } from "zod";
import type { Tx } from "../context";
import type { ScoreSummary } from "./schema";

const { verdict, retention, prefix_gain, net_rescue, warnings, sentence, gate_on } = Assessment.shape;

const Found = z.object({
  calibrationId: z.string(),
  gate: z.number(),
  gateOn: gate_on,
  verdict,
  retention,
  prefixGain: prefix_gain,
  pilotAlone: z.number().nullable(),
  netRescue: net_rescue,
  warnings,
  sentence,
  kl: CalibrationScores.shape.kl,
  kvCosine: CalibrationScores.shape.kv_cosine.pick({ k: true, v: true }),
  cost: z.array(CostPoint),
  measuredAt: z.date(),
});

/** A score as a row of a list shows it; `developmentOnly` is for who lists to say. */
export type ScoreOfList = Omit<ScoreSummary, "developmentOnly">;

/**
 * By calibration. A score holds a value for each layer and head: what a list shows is taken out of it by the database, which
 * opens each document once.
 */
export async function readScoreSummaries(
  db: Tx,
  calibrationIds: readonly string[],
): Promise<Map<string, ScoreOfList>> {
  if (calibrationIds.length === 0) return new Map();
  const found = await db.$queryRaw<unknown[]>`
    SELECT s."calibration_id" AS "calibrationId", s."gate", s."gate_on"::text AS "gateOn", s."cost",
      s."created_at" AS "measuredAt", a.verdict, a.retention, a.prefix_gain AS "prefixGain",
      (a.arms #>> '{pilot_alone,retention}')::float8 AS "pilotAlone", a.net_rescue AS "netRescue", a.warnings, a.sentence,
      x.kl, jsonb_build_object('k', x.kv_cosine -> 'k', 'v', x.kv_cosine -> 'v') AS "kvCosine"
    FROM "score" s,
      jsonb_to_record(s."assessment") AS a(verdict text, retention jsonb, prefix_gain float8, arms jsonb, net_rescue jsonb,
        warnings jsonb, sentence text),
      jsonb_to_record(s."scores") AS x(kl float8, kv_cosine jsonb)
    WHERE s."calibration_id" = ANY(${calibrationIds}::uuid[])`;
  const scores = z.array(Found).parse(found);
  return new Map(
    scores.map(({ cost, ...score }) => [
      score.calibrationId,
      { ...score, paysFrom: breakEvenOf(cost).transfer },
    ]),
  );
}

export function withOrigin(score: ScoreOfList | undefined, developmentOnly: boolean): ScoreSummary | null {
  return score ? { ...score, developmentOnly } : null;
}
