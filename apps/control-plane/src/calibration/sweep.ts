import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { unparkNodes } from "../park/park-nodes";
import { inTransaction } from "../transaction";
import { lockCalibration } from "./cancel";
import { type CalibrationMove, mayMove, nextState } from "./states";

const SILENT = "The worker was silent for a whole lease.";
const FORCED = "The worker did not end the run in time after it was asked to.";

/**
 * Runs whose worker was silent for a whole lease become LOST, or CANCELLED where that was asked for; a cancelled run
 * that did not end in time becomes CANCELLED whatever its worker does. Each in a transaction of its own: one that
 * cannot be ended must not keep the others. Gives how many ended.
 */
export async function sweepRuns(ctx: Context): Promise<number> {
  const now = await databaseNow(ctx.services.db);
  const overdue = later(now, -ctx.services.config.cancelForceMs);
  const found = await ctx.services.db.calibrationAttempt.findMany({
    where: {
      state: "RUNNING",
      OR: [{ leaseExpiresAt: { lt: now } }, { calibration: { cancelRequestedAt: { lt: overdue } } }],
    },
    select: { id: true, calibrationId: true },
    orderBy: { calibrationId: "asc" },
  });
  let swept = 0;
  for (const attempt of found) {
    try {
      const ended = await inTransaction(ctx, { audited: false, publish: false }, (inner) =>
        endOverdue(inner, attempt),
      );
      if (ended) swept += 1;
    } catch (error) {
      ctx.log.warn({ err: error, calibration: attempt.calibrationId }, "a silent run could not be ended");
    }
  }
  return swept;
}

async function endOverdue(ctx: Context, found: { id: string; calibrationId: string }): Promise<boolean> {
  const calibration = await lockCalibration(ctx, found.calibrationId);
  const attempt = await ctx.db.calibrationAttempt.findUniqueOrThrow({ where: { id: found.id } });
  const now = await databaseNow(ctx.db);
  const { cancelRequestedAt } = calibration;
  const silent = attempt.leaseExpiresAt < now;
  const forced =
    cancelRequestedAt !== null && later(cancelRequestedAt, ctx.services.config.cancelForceMs) < now;
  if (attempt.state !== "RUNNING" || !(silent || forced)) return false;
  const move: CalibrationMove = cancelRequestedAt ? "cancel" : "lose";
  const open = attempt.number === calibration.attempt && mayMove(calibration.state, move);
  const state = open ? nextState(calibration.state, move) : "LOST";
  const reason = forced ? FORCED : SILENT;
  await ctx.db.calibrationAttempt.update({
    where: { id: attempt.id },
    data: {
      state,
      finishedAt: now,
      errorCode: state === "LOST" ? "LOST" : "ENDED_BY_FORCE",
      errorMessage: reason,
    },
  });
  if (!open) return false;
  await unparkNodes(ctx, calibration);
  const after = await ctx.db.calibration.update({
    where: { id: calibration.id },
    data: { state, rate: null, waitingReason: null, finishedAt: state === "LOST" ? null : now },
  });
  await writeAudit(ctx, {
    verb: state === "LOST" ? "calibration.lose" : "calibration.cancelByForce",
    entity: "calibration",
    entityId: calibration.id,
    before: { state: calibration.state },
    after: { state, attempt: attempt.number },
    reason,
  });
  ctx.afterCommit(() => {
    ctx.services.hub.updateCalibration({
      calibration: after.id,
      attempt: attempt.number,
      last_seq: attempt.lastSeq,
      state: after.state,
      stage: after.stage,
      percent: after.percent,
      rate: null,
      unit: after.unit,
      lines: [],
    });
    // It beats at once, hears that it is fenced, and ends its process.
    ctx.services.hub.cancelJob(attempt.workerId, calibration.id);
  });
  return true;
}
