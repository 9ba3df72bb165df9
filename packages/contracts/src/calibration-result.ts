import { z } from "zod";
import { BreakEven, CalibrationScores, CostPoint, LayerFit } from "./calibration-event";
import { ArmScore, Assessment } from "./retention";
import { Verdict } from "./states";

/** The last line of `lifeboat helm calibrate --json`: everything that the run measured. */
export const CalibrationResult = z.object({
  type: z.literal("result"),
  pair: z.object({ source: z.string(), target: z.string() }),
  verdict: Verdict.nullable(),
  gate: z.number(),
  retention: Assessment.shape.retention,
  prefix_gain: z.number().nullable(),
  kl: z.number(),
  kv_cosine: CalibrationScores.shape.kv_cosine,
  arms: z.record(z.string(), ArmScore),
  warnings: z.array(z.string()),
  /** The whole assessment; the fields above repeat its head. */
  assessment: Assessment.nullish(),
  scores: CalibrationScores.nullish(),
  cost: z.array(CostPoint).nullish(),
  break_even: BreakEven.nullish(),
  fit: z.array(LayerFit).nullish(),
  development: z.boolean().nullish(),
  artifact: z.object({ sha256: z.string(), path: z.string().nullish(), bytes: z.number().int() }).nullable(),
});
export type CalibrationResult = z.infer<typeof CalibrationResult>;
