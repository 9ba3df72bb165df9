import { ArmName, HelmError, LongMultiple, PointCounts, SequenceCounts } from "@helm/contracts";
import type { CountsByArm } from "@helm/pairing";
import { z } from "zod";
import type { Context } from "../context";

const Points = z.array(PointCounts).nullable();

/** The stored rows of one attempt, as the assessment takes them. Errors: COUNTS_REFUSED where some came twice. */
export async function readCounts(ctx: Context, attemptId: string): Promise<CountsByArm> {
  const rows = await ctx.db.sequenceCount.findMany({
    where: { attemptId },
    orderBy: [{ arm: "asc" }, { split: "asc" }, { multiple: "asc" }, { sequence: "asc" }],
  });
  await requireOnce(ctx, attemptId, rows.length);
  const counts: CountsByArm = {};
  for (const row of rows) {
    const arm = ArmName.parse(row.arm);
    const split = SequenceCounts.shape.split.parse(row.split);
    const list = counts[arm] ?? [];
    counts[arm] = list;
    list.push({
      id: row.sequence,
      domain: row.domain,
      digest: row.digest,
      split,
      prefixes: row.prefixes,
      first: { agree: row.firstAgree, total: row.firstTotal },
      early: { agree: row.earlyAgree, total: row.earlyTotal },
      late: { agree: row.lateAgree, total: row.lateTotal },
      kl_sum: row.klSum,
      recovered: row.recovered,
      lost: row.lost,
      gold_gain: row.goldGain,
      native_gold_gain: row.nativeGoldGain,
      multiple: split === "long" ? LongMultiple.parse(row.multiple) : null,
      points: Points.parse(row.points),
    });
  }
  return counts;
}

/** The key drops a sequence that comes twice; what its event counted still tells. */
async function requireOnce(ctx: Context, attemptId: string, stored: number): Promise<void> {
  const events = await ctx.db.calibrationEvent.findMany({
    where: { attemptId, type: "counts" },
    select: { body: true },
  });
  const sent = events.reduce((sum, { body }) => sum + Number((body as { n?: unknown } | null)?.n ?? 0), 0);
  if (sent === stored) return;
  const sentence = `The counts of this run cannot be judged: ${sent} sequences were sent and ${stored} are distinct. Nothing is concluded from it; calibrate again.`;
  throw new HelmError("COUNTS_REFUSED", sentence, { reason: "SEQUENCE_REPEATED" });
}
