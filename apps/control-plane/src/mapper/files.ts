import type { Tx } from "../context";

/** What the mappers of one pair take, and the one that stands for them: the active one, else the newest. */
export interface PairFiles {
  pairId: string;
  mappers: number;
  bytes: number;
  shown: { active: boolean; bytes: number; method: string; k: number };
}

interface Found {
  pairId: string;
  mappers: number;
  bytes: bigint;
  active: boolean;
  shownBytes: bigint;
  method: string;
  k: number;
}

/** By pair. Files that an administrator deleted take nothing any more, and are still known by their size. */
export async function readPairFiles(db: Tx): Promise<Map<string, PairFiles>> {
  const found = await db.$queryRaw<Found[]>`
    WITH one AS (
      SELECT m."pair_id", count(*) FILTER (WHERE a."deleted_at" IS NULL)::int AS mappers,
        COALESCE(sum(a."bytes") FILTER (WHERE a."deleted_at" IS NULL), 0)::bigint AS bytes,
        (array_agg(m."id" ORDER BY m."state" <> 'ACTIVE', m."id" DESC))[1] AS shown
      FROM "mapper" m JOIN "artifact" a ON a."sha256" = m."sha256" GROUP BY m."pair_id"
    )
    SELECT one."pair_id" AS "pairId", one.mappers, one.bytes, m."state" = 'ACTIVE' AS active,
      a."bytes" AS "shownBytes", c."method", c."k"
    FROM one JOIN "mapper" m ON m."id" = one.shown JOIN "artifact" a ON a."sha256" = m."sha256"
      JOIN "calibration" c ON c."id" = m."calibration_id"`;
  return new Map(
    found.map(({ pairId, mappers, bytes, active, shownBytes, method, k }) => [
      pairId,
      { pairId, mappers, bytes: Number(bytes), shown: { active, bytes: Number(shownBytes), method, k } },
    ]),
  );
}

/** Files that lie there now: one that two mappers name lies there once. */
export async function countFiles(db: Tx): Promise<{ files: number; bytes: number }> {
  const [found] = await db.$queryRaw<{ files: number; bytes: bigint }[]>`
    SELECT count(*)::int AS files, COALESCE(sum(a."bytes"), 0)::bigint AS bytes FROM "artifact" a
    WHERE a."deleted_at" IS NULL AND EXISTS (SELECT 1 FROM "mapper" m WHERE m."sha256" = a."sha256")`;
  return { files: found?.files ?? 0, bytes: Number(found?.bytes ?? 0) };
}
