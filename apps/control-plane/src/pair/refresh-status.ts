import type { PairStatus } from "@helm/contracts";
import type { Context } from "../context";

/** ELIGIBLE with an active mapper; TRANSFER_INELIGIBLE without one after a run below the gate; else NOT_CALIBRATED. */
export async function refreshPairStatus(ctx: Context, pairId: string): Promise<PairStatus> {
  const active = await ctx.db.mapper.findFirst({ where: { pairId, state: "ACTIVE" }, select: { id: true } });
  const last = await ctx.db.calibration.findFirst({
    where: { pairId, state: "SUCCEEDED" },
    orderBy: [{ finishedAt: "desc" }, { id: "desc" }],
    select: { verdict: true },
  });
  const status: PairStatus = active
    ? "ELIGIBLE"
    : last?.verdict === "BELOW_GATE"
      ? "TRANSFER_INELIGIBLE"
      : "NOT_CALIBRATED";
  await ctx.db.pair.update({ where: { id: pairId }, data: { status } });
  ctx.touched.add("pair");
  return status;
}
