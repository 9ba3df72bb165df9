import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { unparkNodes } from "../park/park-nodes";
import { nextState } from "./states";

export const CalibrationIdInput = z.object({ id: z.uuid() });
export const CalibrationStateOutput = z.object({
  id: z.uuid(),
  state: z.enum(["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "LOST"]),
});

export async function lockCalibration(ctx: Context, id: string) {
  await ctx.db.$executeRaw`SELECT 1 FROM "calibration" WHERE "id" = ${id}::uuid FOR NO KEY UPDATE`;
  const calibration = await ctx.db.calibration.findUnique({ where: { id } });
  if (!calibration) throw new HelmError("NOT_FOUND", "There is no such calibration.");
  return calibration;
}

/** A running job is asked to end and reports back; one that nobody runs ends here. */
export async function cancelCalibration({ ctx, input }: Call<z.infer<typeof CalibrationIdInput>>) {
  const before = await lockCalibration(ctx, input.id);
  const next = nextState(before.state, "cancel");
  const now = await databaseNow(ctx.db);
  const running = before.state === "RUNNING";
  const after = await ctx.db.calibration.update({
    where: { id: before.id },
    data: running
      ? { cancelRequestedAt: before.cancelRequestedAt ?? now }
      : { state: next, finishedAt: now, cancelRequestedAt: now },
  });
  await writeAudit(ctx, {
    verb: "calibration.cancel",
    entity: "calibration",
    entityId: before.id,
    before: { state: before.state },
    after: { state: after.state, cancelRequested: true },
  });
  if (running) await giveBackEarly(ctx, before);
  const attempt = running
    ? await ctx.db.calibrationAttempt.findFirst({
        where: { calibrationId: before.id },
        orderBy: { number: "desc" },
      })
    : null;
  if (attempt) ctx.afterCommit(() => ctx.services.hub.cancelJob(attempt.workerId, before.id));
  return { id: after.id, state: after.state };
}

/** While nothing computes yet, nothing needs the room that the nodes made: they do not wait for the worker's answer. */
async function giveBackEarly(ctx: Context, run: { id: string; attempt: number }): Promise<void> {
  const draining = await ctx.db.calibrationAttempt.findFirst({
    where: { calibrationId: run.id, number: run.attempt, drainUntil: { not: null } },
    select: { id: true },
  });
  if (draining) await unparkNodes(ctx, run);
}
