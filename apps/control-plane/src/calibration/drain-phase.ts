import { ExitCode } from "@helm/contracts";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";
import { whatIsAwaited } from "../park/parked-nodes";
import { inTransaction } from "../transaction";
import { lockCalibration } from "./cancel";
import { closeRun } from "./finish";

type Held = Parameters<typeof closeRun>[1];

/** What a held run still waits for; null where its job may begin, or has. Ends the phase, or the run where time is up. */
export async function lookAtDrain(
  ctx: Context,
  held: Held,
): Promise<{ waitsFor: string | null; over: boolean }> {
  const { calibration, attempt, now } = held;
  if (attempt.drainUntil === null) return { waitsFor: null, over: false };
  const waitsFor = await whatIsAwaited(ctx, calibration.id, now);
  if (waitsFor !== null && attempt.drainUntil < now) {
    await endUndrained(ctx, held, waitsFor);
    return { waitsFor: null, over: true };
  }
  if (waitsFor === null)
    await ctx.db.calibrationAttempt.update({ where: { id: attempt.id }, data: { drainUntil: null } });
  if (waitsFor !== calibration.waitingReason) {
    await ctx.db.calibration.update({ where: { id: calibration.id }, data: { waitingReason: waitsFor } });
    ctx.afterCommit(() => ctx.services.hub.hint("calibrations"));
  }
  return { waitsFor, over: false };
}

async function endUndrained(ctx: Context, held: Held, waitsFor: string): Promise<void> {
  const minutes = Math.max(1, Math.round(ctx.services.config.drainMs / 60_000));
  await closeRun(ctx, held, "fail", {
    code: "DRAIN_TIMEOUT",
    message: `The nodes of the worker's machine were not parked within ${minutes} ${minutes === 1 ? "minute" : "minutes"}, and serve again. Last: ${waitsFor} Retry when less is running there, give it longer (HELM_DRAIN_MS), or calibrate beside the engines.`,
    exitCode: ExitCode.resources,
  });
  // It beats at once and hears that the run has ended.
  ctx.afterCommit(() => ctx.services.hub.cancelJob(held.attempt.workerId, held.calibration.id));
}

/** Ends the runs whose drain took too long while their worker asked for nothing. Each in a transaction of its own. */
export async function sweepDrains(ctx: Context): Promise<void> {
  const now = await databaseNow(ctx.services.db);
  const found = await ctx.services.db.calibrationAttempt.findMany({
    where: { state: "RUNNING", drainUntil: { lt: now } },
    select: { id: true, calibrationId: true },
    orderBy: { calibrationId: "asc" },
  });
  for (const { id, calibrationId } of found) {
    await inTransaction(ctx, { audited: false, publish: false }, async (inner) => {
      const calibration = await lockCalibration(inner, calibrationId);
      const attempt = await inner.db.calibrationAttempt.findUniqueOrThrow({ where: { id } });
      const { state } = calibration;
      if (state !== "RUNNING" || attempt.number !== calibration.attempt) return;
      await lookAtDrain(inner, {
        calibration: { ...calibration, state },
        attempt,
        now: await databaseNow(inner.db),
      });
    }).catch((error: unknown) =>
      ctx.log.warn(
        { err: error, calibration: calibrationId },
        "a drain that took too long could not be ended",
      ),
    );
  }
}
