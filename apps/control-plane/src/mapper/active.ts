import { Prisma } from "@helm/db";
import type { Tx } from "../context";

export interface ActiveMapper {
  id: string;
  pairId: string;
  calibrationId: string;
  sha256: string;
  bytes: number;
  warnings: string[];
  developmentOnly: boolean;
  activatedAt: Date | null;
}

/** By pair, of all or of one. The partial index answers for the written-out state alone: of a parameter it knows nothing when it is planned. */
export async function readActiveMappers(db: Tx, pairId?: string): Promise<Map<string, ActiveMapper>> {
  const ofOne = pairId ? Prisma.sql`AND m."pair_id" = ${pairId}::uuid` : Prisma.empty;
  const found = await db.$queryRaw<(Omit<ActiveMapper, "bytes"> & { bytes: bigint })[]>`
    SELECT m."id", m."pair_id" AS "pairId", m."calibration_id" AS "calibrationId", m."sha256", a."bytes", m."warnings",
      m."development_only" AS "developmentOnly", m."activated_at" AS "activatedAt"
    FROM "mapper" m JOIN "artifact" a ON a."sha256" = m."sha256"
    WHERE m."state" = 'ACTIVE' ${ofOne}`;
  return new Map(found.map((mapper) => [mapper.pairId, { ...mapper, bytes: Number(mapper.bytes) }]));
}
