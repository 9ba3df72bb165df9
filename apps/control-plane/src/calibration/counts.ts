import { ArmName, SequenceCounts } from "@helm/contracts";
import type { CountsByArm } from "@helm/pairing";
import type { Context } from "../context";

/** The stored rows of one attempt, as the assessment takes them. */
export async function readCounts(ctx: Context, attemptId: string): Promise<CountsByArm> {
  const rows = await ctx.db.sequenceCount.findMany({
    where: { attemptId },
    orderBy: [{ arm: "asc" }, { split: "asc" }, { sequence: "asc" }],
  });
  const counts: CountsByArm = {};
  for (const row of rows) {
    const arm = ArmName.parse(row.arm);
    const list = counts[arm] ?? [];
    counts[arm] = list;
    list.push({
      id: row.sequence,
      domain: row.domain,
      split: SequenceCounts.shape.split.parse(row.split),
      prefixes: row.prefixes,
      first: { agree: row.firstAgree, total: row.firstTotal },
      early: { agree: row.earlyAgree, total: row.earlyTotal },
      late: { agree: row.lateAgree, total: row.lateTotal },
      kl_sum: row.klSum,
      recovered: row.recovered,
      lost: row.lost,
      gold_gain: row.goldGain,
      native_gold_gain: row.nativeGoldGain,
    });
  }
  return counts;
}
