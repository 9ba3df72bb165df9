import type { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { databaseNow } from "../database-clock";
import { requireServed } from "../park/drain-reach";
import { type CalibrationIdInput, lockCalibration } from "./cancel";
import { requireNoOpenRun } from "./start";
import { nextState } from "./states";
import { reasonToStartWaiting } from "./waiting";

/** Back to the queue; the next claim is a new attempt and fences every older one. */
export async function retryCalibration({ ctx, input }: Call<z.infer<typeof CalibrationIdInput>>) {
  const before = await lockCalibration(ctx, input.id);
  const state = nextState(before.state, "retry");
  await requireNoOpenRun(ctx, before.pairId);
  await requireServed(ctx, before);
  const pair = await ctx.db.pair.findUniqueOrThrow({
    where: { id: before.pairId },
    select: { source: { select: { name: true } }, target: { select: { name: true } } },
  });
  const after = await ctx.db.calibration.update({
    where: { id: before.id },
    data: {
      state,
      stage: null,
      percent: 0,
      rate: null,
      unit: null,
      lastSeq: 0,
      waitingReason: await reasonToStartWaiting(ctx, {
        device: before.device,
        room: before.room,
        source: pair.source.name,
        target: pair.target.name,
      }),
      waitingSince: await databaseNow(ctx.db),
      cancelRequestedAt: null,
      finishedAt: null,
      errorCode: null,
      errorMessage: null,
      exitCode: null,
    },
  });
  // A run that FAILED on its controls keeps no score of the failed attempt.
  await ctx.db.score.deleteMany({ where: { calibrationId: before.id } });
  await writeAudit(ctx, {
    verb: "calibration.retry",
    entity: "calibration",
    entityId: before.id,
    before: { state: before.state, attempt: before.attempt },
    after: { state: after.state },
  });
  ctx.afterCommit(() => ctx.services.hub.offerWork());
  return { id: after.id, state: after.state };
}
