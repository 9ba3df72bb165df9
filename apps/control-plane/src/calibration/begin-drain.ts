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

/** A run that was LOST comes back: its nodes are parked anew; one that had begun to compute does not wait again. */
export async function resumeDrain(
  ctx: Context,
  run: Run,
  attempt: { id: string; workerId: string; drainUntil: Date | null },
): Promise<void> {
  if (run.room !== "drain") return;
  const worker = await ctx.db.host.findUnique({ where: { id: attempt.workerId }, select: { machine: true } });
  const { drainUntil } = await beginDrain(ctx, run, worker?.machine ?? null);
  if (attempt.drainUntil === null) return;
  await ctx.db.calibrationAttempt.update({ where: { id: attempt.id }, data: { drainUntil } });
}
