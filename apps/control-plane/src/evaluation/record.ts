import { Evaluation, HelmError, meanOf, warningsOf } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";

export const RecordEvaluationInput = Evaluation;
export const RecordEvaluationOutput = z.object({ id: z.uuid(), pairId: z.uuid(), mapperId: z.uuid() });

/**
 * Stores what was measured with a mapper of ours. Errors: NOT_FOUND for a mapper, ARTIFACT_MISMATCH for a
 * pair, CONFLICT for a result that is here already.
 */
export async function recordEvaluation({ ctx, input }: Call<z.infer<typeof RecordEvaluationInput>>) {
  const mapper = await mapperOf(ctx, input);
  // What follows from the rows and from the mapper is worked out here, whatever the sender makes of it.
  const development = input.development || mapper.developmentOnly;
  const result: Evaluation = { ...input, development, warnings: warningsOf(input.tasks) };
  const mean = meanOf(input.tasks);
  if (input.mean && mean) result.mean = { ...input.mean, ...mean };
  await requireNew(ctx, mapper.id, result);
  const { id } = await ctx.db.evaluation.create({
    data: {
      pairId: mapper.pairId,
      mapperId: mapper.id,
      result: result as Prisma.InputJsonValue,
      developmentOnly: development,
      recordedBy: actorName(ctx.actor),
    },
  });
  await writeAudit(ctx, {
    verb: "evaluation.record",
    entity: "evaluation",
    entityId: id,
    after: {
      pairId: mapper.pairId,
      mapperId: mapper.id,
      tasks: input.tasks.filter((task) => !task.group).map((task) => task.task),
      accuracyRetention: mean?.value ?? null,
      limit: input.limit,
    },
  });
  return { id, pairId: mapper.pairId, mapperId: mapper.id };
}

/** A result sent twice is one measurement. The mapper's row is the lock for two that come at once. */
async function requireNew(ctx: Context, mapperId: string, result: Evaluation): Promise<void> {
  await ctx.db.$executeRaw`SELECT 1 FROM "mapper" WHERE "id" = ${mapperId}::uuid FOR NO KEY UPDATE`;
  const known = await ctx.db.evaluation.findFirst({
    where: { mapperId, result: { equals: result as Prisma.InputJsonValue } },
    select: { id: true },
  });
  if (!known) return;
  throw new HelmError("CONFLICT", "This very evaluation is recorded already.", { evaluationId: known.id });
}

/** The mapper and the weights say which pair it is; names are what a host calls its folders. */
async function mapperOf(ctx: Context, result: Evaluation) {
  const mappers = await ctx.db.mapper.findMany({
    where: { sha256: result.mapper_sha256 },
    include: { pair: { include: { source: true, target: true } } },
    orderBy: { id: "desc" },
  });
  const short = result.mapper_sha256.slice(0, 12);
  if (mappers.length === 0) {
    throw new HelmError(
      "NOT_FOUND",
      `This server knows no mapper ${short}. Calibrate the pair through it, then evaluate that mapper.`,
    );
  }
  const { weights } = result;
  const found = mappers.find(
    ({ pair }) =>
      pair.source.weightsSha256 === weights.source && pair.target.weightsSha256 === weights.target,
  );
  if (found) return found;
  throw new HelmError(
    "ARTIFACT_MISMATCH",
    `Mapper ${short} belongs to another pair than ${result.pair.source} -> ${result.pair.target}: the models' weights differ. Evaluate with the models that it was fitted for.`,
  );
}
