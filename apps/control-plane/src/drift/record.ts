import { Drift, HelmError } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";

export const RecordDriftInput = Drift;
export const RecordDriftOutput = z.object({ id: z.uuid(), pairId: z.uuid(), mapperId: z.uuid() });

/**
 * Stores what a conversation kept with two mappers of ours, one of the pair and one of its reverse. Errors: NOT_FOUND for
 * a mapper, ARTIFACT_MISMATCH where the two do not lie back to back, CONFLICT for a result that is here already.
 */
export async function recordDrift({ ctx, input }: Call<z.infer<typeof RecordDriftInput>>) {
  const [up, down] = await backToBack(ctx, input);
  const development = input.development || up.developmentOnly || down.developmentOnly;
  await ctx.db.$executeRaw`SELECT 1 FROM "mapper" WHERE "id" = ${up.id}::uuid FOR NO KEY UPDATE`;
  const result = { ...input, development } as Prisma.InputJsonValue;
  const known = await ctx.db.drift.findFirst({ where: { mapperId: up.id, result: { equals: result } } });
  if (known)
    throw new HelmError("CONFLICT", "This very measurement is recorded already.", { driftId: known.id });
  const { id } = await ctx.db.drift.create({
    data: {
      pairId: up.pairId,
      mapperId: up.id,
      reverseMapperId: down.id,
      result,
      developmentOnly: development,
      recordedBy: actorName(ctx.actor),
    },
  });
  await writeAudit(ctx, {
    verb: "drift.record",
    entity: "drift",
    entityId: id,
    after: {
      pairId: up.pairId,
      mapperId: up.id,
      reverseMapperId: down.id,
      turns: input.carries.new.length,
      last: input.carries.new.at(-1)?.retention ?? null,
    },
  });
  return { id, pairId: up.pairId, mapperId: up.id };
}

async function backToBack(ctx: Context, { mapper_sha256, reverse_mapper_sha256 }: Drift) {
  const ups = await mappersOf(ctx, mapper_sha256);
  const downs = await mappersOf(ctx, reverse_mapper_sha256);
  for (const up of ups)
    for (const down of downs)
      if (up.pair.sourceId === down.pair.targetId && up.pair.targetId === down.pair.sourceId)
        return [up, down] as const;
  throw new HelmError(
    "ARTIFACT_MISMATCH",
    "The two mappers are not of a pair and its reverse. Measure with one of each direction.",
  );
}

async function mappersOf(ctx: Context, sha256: string) {
  const found = await ctx.db.mapper.findMany({
    where: { sha256 },
    select: { id: true, pairId: true, developmentOnly: true, pair: true },
    orderBy: { id: "desc" },
  });
  if (found.length > 0) return found;
  throw new HelmError(
    "NOT_FOUND",
    `This server knows no mapper ${sha256.slice(0, 12)}. Calibrate the pair through it, then measure with that mapper.`,
  );
}
