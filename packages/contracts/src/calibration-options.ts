import { z } from "zod";

/**
 * The ways to fit a mapper, as `--method` takes them, with what each one does. The job's own list is METHODS in
 * packages/kv; a test holds the two together.
 */
export const METHODS = {
  ridge: "plain ridge on all heads, every row alike: the published baseline",
  renorm: "first positions weighted, keys brought back to the target's norm, exact first tokens",
} as const;
export type MethodName = keyof typeof METHODS;

/** "default" leaves the choice to the job: what measures best. */
export const MethodChoice = z.enum(["default", ...(Object.keys(METHODS) as MethodName[])]);
export type MethodChoice = z.infer<typeof MethodChoice>;

/** Everything else a run may be asked for; it travels with the run to the worker and becomes the job's flags. */
export const CalibrationOptions = z.object({
  /** Adds the rows at 32 times the fitted length. */
  long: z.boolean().optional(),
  sequences: z.number().int().min(1).optional(),
  seq_len: z.number().int().min(1).optional(),
  seed: z.number().int().min(0).optional(),
});
export type CalibrationOptions = z.infer<typeof CalibrationOptions>;
