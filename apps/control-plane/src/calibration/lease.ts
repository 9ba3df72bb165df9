import { HelmError } from "@helm/contracts";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { actingHost } from "../host/acting-host";
import { lockCalibration } from "./cancel";
import { mayMove, nextState } from "./states";

export class Fenced extends HelmError {
  constructor(calibration: string) {
    super("ATTEMPT_FENCED", "A newer attempt exists, or the run has ended: stop and upload nothing.", {
      calibration,
    });
  }
}

/** Locks the run and proves that this attempt still holds it. A LOST run comes back with the same attempt while no newer
 * one exists and no other run took the pair's place; every use renews the lease. */
export async function holdLease(ctx: Context, calibrationId: string, attemptId: string) {
  const host = actingHost(ctx, "worker");
  const calibration = await lockCalibration(ctx, calibrationId);
  const attempt = await ctx.db.calibrationAttempt.findFirst({
    where: { id: attemptId, calibrationId, workerId: host.id },
  });
  if (!attempt || attempt.number !== calibration.attempt) throw new Fenced(calibrationId);
  if (calibration.state === "LOST") await comeBack(ctx, calibration, attempt.number);
  else if (calibration.state !== "RUNNING") throw new Fenced(calibrationId);
  const leaseMs = ctx.services.config.leaseMs;
  await ctx.db.calibrationAttempt.update({
    where: { id: attempt.id },
    data: { state: "RUNNING", finishedAt: null, leaseExpiresAt: new Date(Date.now() + leaseMs) },
  });
  return { calibration: { ...calibration, state: "RUNNING" as const }, attempt, leaseMs };
}

async function comeBack(
  ctx: Context,
  calibration: { id: string; pairId: string },
  attempt: number,
): Promise<void> {
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${calibration.pairId}::uuid FOR UPDATE`;
  const other = await ctx.db.calibration.findFirst({
    where: { pairId: calibration.pairId, state: { in: ["QUEUED", "RUNNING"] } },
  });
  if (other) throw new Fenced(calibration.id);
  await ctx.db.calibration.update({
    where: { id: calibration.id },
    data: { state: nextState("LOST", "come_back"), finishedAt: null },
  });
  await writeAudit(ctx, {
    verb: "calibration.comeBack",
    entity: "calibration",
    entityId: calibration.id,
    before: { state: "LOST" },
    after: { state: "RUNNING", attempt },
  });
}

/** Runs whose worker was silent for a whole lease: LOST, or CANCELLED where that was asked for. */
export async function sweepLeases(ctx: Context): Promise<number> {
  const expired = await ctx.db.calibrationAttempt.findMany({
    where: { state: "RUNNING", leaseExpiresAt: { lt: new Date() } },
    select: { id: true, calibrationId: true, number: true },
  });
  let swept = 0;
  for (const found of expired) {
    const calibration = await lockCalibration(ctx, found.calibrationId);
    const attempt = await ctx.db.calibrationAttempt.findUniqueOrThrow({ where: { id: found.id } });
    if (attempt.state !== "RUNNING" || attempt.leaseExpiresAt >= new Date()) continue;
    const now = new Date();
    const current = attempt.number === calibration.attempt;
    const move = calibration.cancelRequestedAt ? "cancel" : "lose";
    const open = current && mayMove(calibration.state, move);
    const state = open ? nextState(calibration.state, move) : "LOST";
    await ctx.db.calibrationAttempt.update({ where: { id: attempt.id }, data: { state, finishedAt: now } });
    if (!open) continue;
    await ctx.db.calibration.update({
      where: { id: calibration.id },
      data: { state, finishedAt: state === "LOST" ? null : now },
    });
    await writeAudit(ctx, {
      verb: "calibration.lose",
      entity: "calibration",
      entityId: calibration.id,
      before: { state: calibration.state },
      after: { state, attempt: attempt.number },
      reason: "The worker was silent for a whole lease.",
    });
    swept += 1;
  }
  return swept;
}

/** After a restart every lease gets a full period: silence while we were away is not the worker's. */
export async function renewAllLeases(ctx: Context): Promise<void> {
  const leaseExpiresAt = new Date(Date.now() + ctx.services.config.leaseMs);
  await ctx.db.calibrationAttempt.updateMany({ where: { state: "RUNNING" }, data: { leaseExpiresAt } });
  await ctx.db.inspection.updateMany({ where: { state: "RUNNING" }, data: { leaseExpiresAt } });
}
