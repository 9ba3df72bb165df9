import type { Tx } from "../context";

/** What a pair's row says of its runs. */
export interface PairRuns {
  pairId: string;
  runs: number;
  openId: string | null;
  /** Of the newest run that has a score. */
  scoredId: string | null;
  scoredDevelopmentOnly: boolean | null;
}

/** By pair; each pair's newest run is one step in an index, however many runs there are. */
export async function readPairRuns(db: Tx, pairIds: readonly string[]): Promise<Map<string, PairRuns>> {
  const found = await db.$queryRaw<PairRuns[]>`
    SELECT p.id AS "pairId", open.id AS "openId", scored.id AS "scoredId",
      scored.development_only AS "scoredDevelopmentOnly",
      (SELECT count(*)::int FROM "calibration" c WHERE c."pair_id" = p.id) AS "runs"
    FROM unnest(${pairIds}::uuid[]) AS p(id)
    LEFT JOIN LATERAL (
      SELECT c."id" FROM "calibration" c WHERE c."pair_id" = p.id AND c."state" IN ('QUEUED', 'RUNNING') LIMIT 1
    ) open ON true
    LEFT JOIN LATERAL (
      SELECT c."id", c."development_only" FROM "calibration" c JOIN "score" s ON s."calibration_id" = c."id"
      WHERE c."pair_id" = p.id ORDER BY c."created_at" DESC, c."id" DESC LIMIT 1
    ) scored ON true`;
  return new Map(found.map((runs) => [runs.pairId, runs]));
}
