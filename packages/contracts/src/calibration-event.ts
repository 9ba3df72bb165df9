import { z } from "zod";
import { CorpusFacts } from "./corpus-facts";
import { JudgeRow } from "./judge";
import { DeviceFacts, ModelFacts } from "./model-facts";
import { ArmName, SequenceCounts } from "./retention";
import { findUnstorable, UNSTORABLE } from "./text";

const base = { v: z.literal(1), at: z.string() };

export const CalibrationStage = z.enum([
  "inspect",
  "capture",
  "fit",
  "select",
  "score",
  "judge",
  "cost",
  "write",
]);
export type CalibrationStage = z.infer<typeof CalibrationStage>;

/** Medians in milliseconds, device-synchronised, after a warm-up; null for a point left out, with its reason. */
export const CostPoint = z.object({
  tokens: z.number().int(),
  pilot_prefill_ms: z.number().nullable(),
  target_prefill_ms: z.number().nullable(),
  map_ms: z.number().nullable(),
  move_ms: z.number().nullable(),
  tail_ms: z.number().nullable(),
  transfer_ms: z.number().nullable(),
  /**
   * The three whole paths to the target's first token. Both escalated ones hold the pilot's prefill and its decode of
   * `decision_tokens` tokens.
   */
  direct_target_ms: z.number().nullish(),
  escalated_with_transfer_ms: z.number().nullish(),
  escalated_without_transfer_ms: z.number().nullish(),
  decision_tokens: z.number().int().nullish(),
  left_out: z.string().nullish(),
});
export type CostPoint = z.infer<typeof CostPoint>;

/**
 * The shortest measured length from which on one path beats another, there and at every longer one; null for never.
 * `transfer`: against the target's prefill, given that the pilot has answered. `with_pilot`: the pilot's prefill counted
 * too. `escalated`: the whole escalated path with a transfer against the one without. `direct`: against the target alone.
 */
export const BreakEven = z.object({
  transfer: z.number().int().nullable(),
  with_pilot: z.number().int().nullable(),
  escalated: z.number().int().nullable(),
  direct: z.number().int().nullable(),
});
export type BreakEven = z.infer<typeof BreakEven>;

export const CalibrationScores = z.looseObject({
  kl: z.number(),
  kl_p95: z.number(),
  /** Mean cosine of mapped and native rows; `by_layer_head[layer][kv_head]`. */
  kv_cosine: z.object({
    k: z.number(),
    v: z.number(),
    k_by_layer_head: z.array(z.array(z.number())),
    v_by_layer_head: z.array(z.array(z.number())),
  }),
  attention_cosine: z.number().nullish(),
  r2: z.looseObject({}).nullish(),
});
export type CalibrationScores = z.infer<typeof CalibrationScores>;

/** Held-out R2 of one target layer's map, K or V: the chosen source layers and the best single one. */
export const SideFit = z.looseObject({
  layers: z.array(z.number().int()).nullish(),
  lambda: z.number().nullish(),
  r2: z.number().nullish(),
  best_single_r2: z.number().nullish(),
});

/** Body of the metric "layer_fit", one for each target layer. */
export const LayerFit = z.object({
  layer: z.number().int(),
  fit: z.object({ k: SideFit, v: SideFit }),
});
export type LayerFit = z.infer<typeof LayerFit>;

/** Body of the metric "drift": the cache carried up and down again, turn by turn. */
export const DriftTurns = z.object({
  turns: z.array(
    z.object({
      turn: z.number().int(),
      direction: z.enum(["up", "down"]),
      retention: z.number(),
      n: z.number().int(),
    }),
  ),
});
export type DriftTurns = z.infer<typeof DriftTurns>;

/** What `python -m lifeboat_kv calibrate` prints on stdout, one JSON object a line. */
export const CalibrationEvent = z
  .discriminatedUnion("type", [
    z.looseObject({
      ...base,
      type: z.literal("started"),
      pair: z.object({ source: ModelFacts, target: ModelFacts }),
      method: z.string(),
      k: z.number().int(),
      device: z.string(),
      corpus: CorpusFacts,
      versions: z.record(z.string(), z.string()),
    }),
    z.object({
      ...base,
      type: z.literal("stage"),
      stage: CalibrationStage,
      index: z.number().int(),
      of: z.number().int(),
    }),
    z.object({
      ...base,
      type: z.literal("progress"),
      stage: CalibrationStage,
      done: z.number(),
      total: z.number(),
      /** Of the whole run, 0 to 100, never falling. */
      percent: z.number().min(0).max(100),
      /** Units a second, null until stable. */
      rate: z.number().nullable(),
      unit: z.string(),
    }),
    z.looseObject({ ...base, type: z.literal("metric"), name: z.string() }),
    z.object({
      ...base,
      type: z.literal("log"),
      level: z.enum(["debug", "info", "warning", "error"]),
      message: z.string(),
    }),
    z.object({
      ...base,
      type: z.literal("counts"),
      arm: ArmName,
      sequences: z.array(SequenceCounts).max(200),
    }),
    /** The pilot's own answers to the probes, beside whether the target says the same: what a judge is fitted on. */
    z.object({ ...base, type: z.literal("judge_rows"), rows: z.array(JudgeRow).max(50) }),
    z.looseObject({
      ...base,
      type: z.literal("result"),
      artifact: z.object({ sha256: z.string(), path: z.string(), bytes: z.number().int() }),
      scores: CalibrationScores,
      cost: z.array(CostPoint),
      manifest: z.looseObject({}),
    }),
    z.object({
      ...base,
      type: z.literal("failed"),
      code: z.string(),
      message: z.string(),
      exit_code: z.number().int(),
    }),
  ])
  .superRefine((event, ctx) => {
    const found = findUnstorable(event);
    if (found !== null) ctx.addIssue({ code: "custom", path: found.split("."), message: UNSTORABLE });
  });
export type CalibrationEvent = z.infer<typeof CalibrationEvent>;

/** What `python -m lifeboat_kv inspect DIR` and `doctor` print. */
export const InspectionEvent = z.object({ ...base, type: z.literal("inspection"), facts: ModelFacts });
export const DoctorEvent = z.object({
  ...base,
  type: z.literal("doctor"),
  devices: z.array(DeviceFacts),
  torch: z.string().nullish(),
  torch_device: z.string().nullish(),
  /** Why torch cannot use the allowed GPU that is there, with the command that mends it. */
  torch_problem: z.string().nullish(),
});

/** Exit codes of `lifeboat helm calibrate`. */
export const ExitCode = {
  cleared: 0,
  machineryFailed: 1,
  usage: 2,
  impossiblePair: 3,
  noAccelerator: 4,
  unreadable: 5,
  resources: 6,
  belowGate: 7,
  interrupted: 130,
} as const;
