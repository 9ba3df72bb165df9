import { z } from "zod";
import { Estimate } from "./retention";

/** Two runs of one pair, sequence by sequence; differences are the second less the first, with paired intervals. */
export const RunComparison = z.discriminatedUnion("comparable", [
  z.object({ comparable: z.literal(false), reason: z.string() }),
  z.object({
    comparable: z.literal(true),
    /** Sequences that both runs were scored on; the retentions below are over these alone. */
    shared: z.number().int(),
    first: z.number(),
    second: z.number(),
    difference: Estimate,
    buckets: z.object({ first: Estimate, early: Estimate, late: Estimate }),
    outcome: z.enum(["second_better", "first_better", "not_told_apart"]),
    sentence: z.string(),
  }),
]);
export type RunComparison = z.infer<typeof RunComparison>;
