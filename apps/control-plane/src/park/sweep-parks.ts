import type { Context } from "../context";
import { unparkNodes } from "./park-nodes";

/** The second line: no node stays parked for a run that does not run, whatever ended it. */
export async function sweepParks(ctx: Context): Promise<void> {
  const left = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT c."id" FROM "calibration" c
    WHERE c."state" <> 'RUNNING' AND EXISTS (SELECT 1 FROM "node_park" p WHERE p."calibration_id" = c."id")
    ORDER BY c."id" FOR UPDATE SKIP LOCKED`;
  for (const run of left) await unparkNodes(ctx, run);
}
