import type { Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { parkNodes } from "../park/park-nodes";
import { whatIsAwaited } from "../park/parked-nodes";

interface Run {
  id: string;
  room: "beside" | "drain";
}

/** Parks the worker's machine for a run that drains; gives what the run then waits for, and until when. */
export async function beginDrain(
  ctx: Context,
  run: Run,
  machine: string | null,
): Promise<{ drainUntil: Date | null; waitsFor: string | null }> {
  if (run.room !== "drain" || machine === null) return { drainUntil: null, waitsFor: null };
  await parkNodes(ctx, run, machine);
  const now = await databaseNow(ctx.db);
  const waitsFor = await whatIsAwaited(ctx, run.id, now);
  return { drainUntil: waitsFor === null ? null : later(now, ctx.services.config.drainMs), waitsFor };
}

/**
 * A run that was LOST and came back has no nodes any more: they are parked anew, on the word of a heartbeat, which only a
 * worker sends whose job is still to run or runs. One that had begun to compute does not wait again. Gives until when it waits.
 */
export async function parkAgain(
  ctx: Context,
  run: Run,
  attempt: { id: string; workerId: string; drainUntil: Date | null },
): Promise<Date | null> {
  if (run.room !== "drain") return null;
  const parked = await ctx.db.nodePark.count({ where: { calibrationId: run.id } });
  if (parked > 0) return attempt.drainUntil;
  const worker = await ctx.db.host.findUnique({ where: { id: attempt.workerId }, select: { machine: true } });
  const { drainUntil } = await beginDrain(ctx, run, worker?.machine ?? null);
  if (attempt.drainUntil === null) return null;
  await ctx.db.calibrationAttempt.update({ where: { id: attempt.id }, data: { drainUntil } });
  return drainUntil;
}
