import type { Context } from "../context";
import { inTransaction } from "../transaction";
import { unparkNodes } from "./park-nodes";

/**
 * The second line: no node stays parked for a run that does not run, whatever ended it. Each in a transaction of its own:
 * nodes are not held while others are waited for.
 */
export async function sweepParks(ctx: Context): Promise<void> {
  const runs = await ctx.services.db.nodePark.findMany({
    where: { calibration: { state: { not: "RUNNING" } } },
    distinct: ["calibrationId"],
    select: { calibrationId: true },
    orderBy: { calibrationId: "asc" },
  });
  for (const { calibrationId } of runs)
    await inTransaction(ctx, { audited: false, publish: false }, async (inner) => {
      // One that is being taken at this moment parks its nodes itself.
      const [run] = await inner.db.$queryRaw<{ id: string }[]>`
        SELECT "id"::text FROM "calibration" WHERE "id" = ${calibrationId}::uuid AND "state" <> 'RUNNING'
        FOR NO KEY UPDATE SKIP LOCKED`;
      if (run) await unparkNodes(inner, run);
    });
}
