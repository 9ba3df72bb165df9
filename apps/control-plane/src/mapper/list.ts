import { MapperState, Verdict, Warning } from "@helm/contracts";
import { z } from "zod";
import { ScoreSummary } from "../calibration/schema";
import { readScoreSummaries, withOrigin } from "../calibration/score-summary";
import type { Call } from "../context";

export const MapperOut = z.object({
  id: z.uuid(),
  pairId: z.uuid(),
  pairName: z.string(),
  calibrationId: z.uuid(),
  sha256: z.string(),
  bytes: z.number().int(),
  state: MapperState,
  verdict: Verdict,
  warnings: z.array(Warning),
  developmentOnly: z.boolean(),
  /** Brought from another host by an administrator: its counts are that host's word. */
  imported: z.boolean(),
  /** When an administrator deleted its file; the row and its scores stay. */
  fileDeletedAt: z.date().nullable(),
  revision: z.number().int(),
  createdAt: z.date(),
  activatedAt: z.date().nullable(),
  retiredAt: z.date().nullable(),
  score: ScoreSummary.nullable(),
});

export const ListMappersInput = z
  .object({
    pairId: z.uuid().optional(),
    cursor: z.uuid().nullish(),
    limit: z.number().int().min(1).max(200).default(50),
  })
  .default({ limit: 50 });
export const ListMappersOutput = z.object({ rows: z.array(MapperOut), nextCursor: z.uuid().nullable() });

/** Newest first; the cursor is the last row's id. */
export async function listMappers({
  ctx,
  input,
}: Call<z.infer<typeof ListMappersInput>>): Promise<z.infer<typeof ListMappersOutput>> {
  const { pairId, cursor, limit } = input;
  const found = await ctx.db.mapper.findMany({
    where: { pairId, ...(cursor ? { id: { lt: cursor } } : {}) },
    omit: { manifest: true },
    include: {
      artifact: true,
      pair: { select: { source: { select: { name: true } }, target: { select: { name: true } } } },
      calibration: { select: { imported: true } },
    },
    orderBy: { id: "desc" },
    take: limit + 1,
  });
  const page = found.slice(0, limit);
  const scores = await readScoreSummaries(
    ctx.db,
    page.map(({ calibrationId }) => calibrationId),
  );
  const rows = page.map((row) => ({
    id: row.id,
    pairId: row.pairId,
    pairName: `${row.pair.source.name} -> ${row.pair.target.name}`,
    calibrationId: row.calibrationId,
    sha256: row.sha256,
    bytes: Number(row.artifact.bytes),
    state: row.state,
    verdict: row.verdict,
    warnings: z.array(Warning).parse(row.warnings),
    developmentOnly: row.developmentOnly,
    imported: row.calibration.imported,
    fileDeletedAt: row.artifact.deletedAt,
    revision: row.revision,
    createdAt: row.createdAt,
    activatedAt: row.activatedAt,
    retiredAt: row.retiredAt,
    score: withOrigin(scores.get(row.calibrationId), row.developmentOnly),
  }));
  return { rows, nextCursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
