import { HelmError, RunComparison } from "@helm/contracts";
import { compareRuns } from "@helm/pairing";
import { z } from "zod";
import type { Call, Context } from "../context";
import { readCounts } from "./counts";

export const CompareCalibrationsInput = z.object({ first: z.uuid(), second: z.uuid() });
export const CompareCalibrationsOutput = RunComparison;

/** Two scored runs of one pair, paired sequence by sequence where they were scored on the same probes. */
export async function compareCalibrations({ ctx, input }: Call<z.infer<typeof CompareCalibrationsInput>>) {
  const [first, second] = await Promise.all([scored(ctx, input.first), scored(ctx, input.second)]);
  if (first.pairId !== second.pairId)
    throw new HelmError("BAD_REQUEST", "The two runs are of different pairs. Choose two of the same pair.");
  const apart =
    first.corpus === second.corpus
      ? null
      : `The runs were scored on different corpora (${first.corpus} and ${second.corpus}).`;
  const [one, two] = await Promise.all([countsOf(ctx, first), countsOf(ctx, second)]);
  return compareRuns(one.mapper ?? [], two.mapper ?? [], apart);
}

async function scored(ctx: Context, id: string) {
  const run = await ctx.db.calibration.findUnique({ where: { id }, include: { score: true } });
  if (!run) throw new HelmError("NOT_FOUND", "There is no such calibration.");
  if (!run.score)
    throw new HelmError("BAD_REQUEST", "Only runs with a score can be compared.", { calibrationId: id });
  return run;
}

async function countsOf(ctx: Context, { id, attempt }: { id: string; attempt: number }) {
  const found = await ctx.db.calibrationAttempt.findUniqueOrThrow({
    where: { calibrationId_number: { calibrationId: id, number: attempt } },
  });
  return readCounts(ctx, found.id);
}
