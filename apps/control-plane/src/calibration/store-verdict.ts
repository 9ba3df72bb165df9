import { type Assessment, type CalibrationEvent, HelmError } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { assess, longLeftOut, thresholdsOf } from "@helm/pairing";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { readCounts } from "./counts";

type Result = Extract<CalibrationEvent, { type: "result" }>;

interface Scored {
  calibration: { id: string; pairId: string; method: string; developmentOnly: boolean; imported: boolean };
  attemptId: string;
  result: Result;
}

/** Assesses the counts under the gate of this moment and stores score and mapper; says so where the run FAILED. */
export async function storeVerdict(
  ctx: Context,
  scored: Scored,
): Promise<{ code: string; message: string } | null> {
  const { calibration } = scored;
  const pair = await ctx.db.pair.findUniqueOrThrow({ where: { id: calibration.pairId } });
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const assessment = await judge(ctx, scored, {
    gate: pair.gate ?? setting.gate,
    gateOn: setting.gateOn,
    control: pair.control,
  });
  if (assessment instanceof HelmError) return { code: assessment.code, message: assessment.userMessage };
  await storeScore(ctx, scored, assessment);
  if (assessment.failure || !assessment.verdict) {
    return assessment.failure ?? { code: "NO_VERDICT", message: "The counts allow no verdict." };
  }
  await ctx.db.calibration.update({ where: { id: calibration.id }, data: { verdict: assessment.verdict } });
  await createMapper(ctx, scored, assessment, assessment.verdict);
  return null;
}

/** Counts that allow no verdict are the run's failure, not this request's. */
async function judge(
  ctx: Context,
  { calibration, attemptId, result }: Scored,
  under: { gate: number; gateOn: "lower" | "point"; control: boolean },
): Promise<Assessment | HelmError> {
  const { method, developmentOnly } = calibration;
  try {
    return assess({
      ...under,
      counts: await readCounts(ctx, attemptId),
      method,
      dtype: developmentOnly ? "float32" : "bfloat16",
      kvCosine: result.scores.kv_cosine,
      thresholds: thresholdsOf(result.manifest),
      longLeftOut: longLeftOut(result.manifest),
    });
  } catch (error) {
    if (error instanceof HelmError && error.code === "COUNTS_REFUSED") return error;
    throw error;
  }
}

async function storeScore(
  ctx: Context,
  { calibration, result }: Scored,
  assessment: Assessment,
): Promise<void> {
  await ctx.db.score.create({
    data: {
      calibrationId: calibration.id,
      gate: assessment.gate,
      gateOn: assessment.gate_on,
      verdict: assessment.verdict,
      retention: assessment.retention.value,
      retentionLow: assessment.retention.low,
      retentionHigh: assessment.retention.high,
      assessment: assessment as Prisma.InputJsonValue,
      scores: result.scores as Prisma.InputJsonValue,
      cost: result.cost as Prisma.InputJsonValue,
    },
  });
}

/** The pair's first cleared mapper of a run of ours becomes active by itself; all others wait for an administrator. */
async function createMapper(
  ctx: Context,
  { calibration, result }: Scored,
  assessment: Assessment,
  verdict: "CLEARED" | "BELOW_GATE",
): Promise<void> {
  const { pairId, id: calibrationId, developmentOnly, imported } = calibration;
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${pairId}::uuid FOR NO KEY UPDATE`;
  const earlier = await ctx.db.mapper.findFirst({
    where: {
      pairId,
      OR: [{ verdict: "CLEARED", calibration: { imported: false } }, { state: "ACTIVE" }],
    },
    select: { id: true },
  });
  const active = verdict === "CLEARED" && !earlier && !imported;
  const mapper = await ctx.db.mapper.create({
    data: {
      pairId,
      calibrationId,
      sha256: result.artifact.sha256,
      state: active ? "ACTIVE" : "INACTIVE",
      verdict,
      warnings: assessment.warnings,
      developmentOnly,
      manifest: result.manifest as Prisma.InputJsonValue,
      activatedAt: active ? new Date() : null,
    },
  });
  await writeAudit(ctx, {
    verb: "mapper.create",
    entity: "mapper",
    entityId: mapper.id,
    after: { sha256: mapper.sha256, state: mapper.state, verdict, developmentOnly },
  });
}
