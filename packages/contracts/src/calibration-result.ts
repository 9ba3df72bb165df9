import { z } from "zod";
import { CalibrationScores } from "./calibration-event";
import { Assessment } from "./retention";
import { Verdict } from "./states";

const Arm = z.object({ retention: z.number(), low: z.number(), high: z.number(), n: z.number().int() });

/** The last line of `lifeboat helm calibrate --json`. */
export const CalibrationResult = z.object({
  type: z.literal("result"),
  pair: z.object({ source: z.string(), target: z.string() }),
  verdict: Verdict.nullable(),
  gate: z.number(),
  retention: Assessment.shape.retention,
  prefix_gain: z.number().nullable(),
  kl: z.number(),
  kv_cosine: CalibrationScores.shape.kv_cosine,
  arms: z.record(z.string(), Arm),
  warnings: z.array(z.string()),
  artifact: z.object({ sha256: z.string(), path: z.string().nullish(), bytes: z.number().int() }).nullable(),
});
export type CalibrationResult = z.infer<typeof CalibrationResult>;
