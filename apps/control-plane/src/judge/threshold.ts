import { chooseThreshold } from "@helm/cascade";
import { HelmError, JudgeBy, JudgeTable, type JudgeThreshold } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";

export const ThresholdInput = z.object({ id: z.uuid(), by: JudgeBy });

/** What a choice comes to, before it is stored. Errors: NOT_FOUND; BAD_REQUEST for a floor that cannot be shown. */
export async function judgeThreshold({ ctx, input }: Call<z.infer<typeof ThresholdInput>>) {
  const found = await ctx.db.judgeTable.findUnique({ where: { id: input.id } });
  if (!found) throw new HelmError("NOT_FOUND", "There is no such judge table any more. Choose another.");
  return thresholdOf(JudgeTable.parse(found.table), input.by);
}

export function thresholdOf(table: JudgeTable, by: JudgeBy): JudgeThreshold {
  const chosen = chooseThreshold(table, by);
  if (chosen.ok) return chosen.threshold;
  const floor = "quality_floor" in by ? by.quality_floor : 0;
  throw new HelmError(
    "BAD_REQUEST",
    `A quality of ${floor} cannot be shown with ${table.requests} labelled requests, whatever is escalated: the most is ${chosen.reachable.toFixed(3)}. Choose a lower floor, or fit a table on more answers.`,
    { issues: [{ path: "judgeTable.by", message: `at most ${chosen.reachable.toFixed(3)}` }] },
  );
}
