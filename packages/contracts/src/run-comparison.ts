import { z } from "zod";
import { Estimate } from "./retention";

/**
 * Two runs of one pair; differences are the second less the first. Paired, sequence by sequence, where both were scored
 * on the same probes: what the two share cancels. Else unpaired: each run's own sequences, drawn apart, and `note` says why.
 */
export const RunComparison = z.discriminatedUnion("comparable", [
  z.object({ comparable: z.literal(false), reason: z.string() }),
  z.object({
    comparable: z.literal(true),
    paired: z.boolean(),
    /** Why the two could not be paired, and what the difference then holds beside the mappers. */
    note: z.string().nullable(),
    /** Sequences that both runs were scored on; paired, the retentions below are over these alone. */
    shared: z.number().int(),
    /** Sequences that each retention is over. */
    sequences: z.object({ first: z.number().int(), second: z.number().int() }),
    first: z.number(),
    second: z.number(),
    difference: Estimate,
    buckets: z.object({ first: Estimate, early: Estimate, late: Estimate }),
    outcome: z.enum(["second_better", "first_better", "not_told_apart"]),
    sentence: z.string(),
  }),
]);
export type RunComparison = z.infer<typeof RunComparison>;
