import { z } from "zod";

/** `details` of a CONFLICT: what stands now, who made it so, and what that person changed since the revision one held. */
export const ConflictDetails = z.object({
  revision: z.number().int(),
  changedBy: z.string().nullable(),
  changedAt: z.string().nullable(),
  changes: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
  /** The row as its own `get` would return it. */
  current: z.record(z.string(), z.unknown()),
});
export type ConflictDetails = z.infer<typeof ConflictDetails>;
export type ConflictChange = ConflictDetails["changes"][number];
