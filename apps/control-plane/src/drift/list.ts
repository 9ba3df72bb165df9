import { Drift, MapperState } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";

export const ListDriftInput = z.object({
  pairId: z.uuid(),
  limit: z.number().int().min(1).max(50).default(20),
});
export const DriftOut = z.object({
  id: z.uuid(),
  pairId: z.uuid(),
  mapper: z.object({ id: z.uuid(), sha256: z.string(), state: MapperState }),
  reverseMapper: z.object({ id: z.uuid(), sha256: z.string(), state: MapperState }),
  developmentOnly: z.boolean(),
  recordedBy: z.string(),
  createdAt: z.date(),
  result: Drift,
});

const named = { select: { id: true, sha256: true, state: true } } as const;

/** What was measured of a pair, newest first. */
export async function listDrift({ ctx, input }: Call<z.infer<typeof ListDriftInput>>) {
  const rows = await ctx.db.drift.findMany({
    where: { pairId: input.pairId },
    include: { mapper: named, reverseMapper: named },
    orderBy: { id: "desc" },
    take: input.limit,
  });
  return rows.map(
    ({ id, pairId, mapper, reverseMapper, developmentOnly, recordedBy, createdAt, result }) => ({
      id,
      pairId,
      mapper,
      reverseMapper,
      developmentOnly,
      recordedBy,
      createdAt,
      result: Drift.parse(result),
    }),
  );
}
