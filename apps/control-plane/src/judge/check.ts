import { checkCalibration, type SharedRequest } from "@helm/cascade";
import { HelmError, type JudgeLabel, JudgeTable, RequestTrace, type TraceShare } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { databaseNow } from "../database-clock";

export const CheckJudgeInput = z.object({
  id: z.uuid(),
  hours: z.number().int().min(1).max(720).default(168),
});
const Share = z.number().min(0).max(1);
export const CheckJudgeOutput = z
  .object({
    requests: z.number().int(),
    predicted: Share,
    observed: z.object({ value: Share, low: Share, high: Share }),
  })
  .nullable();

const Judged = RequestTrace.pick({ judge: true, share: true });
const MOST = 5_000;

/**
 * Whether a table's probabilities come true in traffic: of the requests that it kept and that the target answered too by
 * chance. Null while there are none.
 */
export async function checkJudge({ ctx, input }: Call<z.infer<typeof CheckJudgeInput>>) {
  const found = await ctx.db.judgeTable.findUnique({ where: { id: input.id } });
  if (!found) throw new HelmError("NOT_FOUND", "There is no such judge table any more.");
  const { label } = JudgeTable.parse(found.table);
  const since = new Date((await databaseNow(ctx.db)).getTime() - input.hours * 3_600_000);
  const rows = await ctx.db.requestTrace.findMany({
    where: { pairId: found.pairId, shareKind: "kept_also_target", at: { gte: since } },
    orderBy: [{ at: "desc" }, { id: "desc" }],
    take: MOST,
    select: { document: true },
  });
  const drawn = rows.flatMap(({ document }): SharedRequest[] => {
    const { judge, share } = Judged.parse(document);
    if (judge?.table !== found.sha256 || !share) return [];
    const came = labelOf(share, label);
    return came === null ? [] : [{ probability: judge.score, label: came, propensity: share.propensity }];
  });
  return checkCalibration(drawn);
}

/** Null where the second answer does not tell: whether one is better, only a verifier knows. */
function labelOf({ positions, label }: TraceShare, asked: JudgeLabel): boolean | null {
  if (asked === "target_better") return label ? label === "rescued" : null;
  return positions ? positions.agreed < positions.compared : null;
}
