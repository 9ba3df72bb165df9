import { HelmError } from "@helm/contracts";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { standingHost } from "../host/acting-host";
import { lockCalibration } from "./cancel";
import { nextState } from "./states";

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
  const host = await standingHost(ctx, "worker");
  const calibration = await lockCalibration(ctx, calibrationId);
  const attempt = await ctx.db.calibrationAttempt.findFirst({
    where: { id: attemptId, calibrationId, workerId: host.id },
  });
  if (!attempt || attempt.number !== calibration.attempt) throw new Fenced(calibrationId);
  if (calibration.state === "LOST") await comeBack(ctx, calibration, attempt.number);
  else if (calibration.state !== "RUNNING") throw new Fenced(calibrationId);
  const { leaseMs } = ctx.services.config;
  const now = await databaseNow(ctx.db);
  const renewed = await ctx.db.calibrationAttempt.update({
    where: { id: attempt.id },
    data: {
      state: "RUNNING",
      finishedAt: null,
      errorCode: null,
      errorMessage: null,
      leaseExpiresAt: later(now, leaseMs),
    },
  });
  return { calibration: { ...calibration, state: "RUNNING" as const }, attempt: renewed, leaseMs, now };
}

async function comeBack(
  ctx: Context,
  calibration: { id: string; pairId: string },
  attempt: number,
): Promise<void> {
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${calibration.pairId}::uuid FOR NO KEY UPDATE`;
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

/** Silence while we were away is not the worker's: after a restart every lease gets a full period. */
export async function renewAllLeases(ctx: Context): Promise<void> {
  const leaseExpiresAt = later(await databaseNow(ctx.db), ctx.services.config.leaseMs);
  await ctx.db.calibrationAttempt.updateMany({ where: { state: "RUNNING" }, data: { leaseExpiresAt } });
  await ctx.db.inspection.updateMany({ where: { state: "RUNNING" }, data: { leaseExpiresAt } });
  await ctx.db.calibrationAttempt.updateMany({
    where: { state: "RUNNING", drainUntil: { lt: leaseExpiresAt } },
    data: { drainUntil: leaseExpiresAt },
  });
}
