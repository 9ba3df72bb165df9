import {
  Assessment,
  BreakEven,
  CalibrationOptions,
  CalibrationRoom,
  CalibrationScores,
  CalibrationState,
  CorpusFacts,
  CostPoint,
  Estimate,
  LayerFit,
  Verdict,
  Warning,
} from "@helm/contracts";
import { z } from "zod";

/** A score as a row of a list shows it. */
export const ScoreSummary = z.object({
  calibrationId: z.uuid(),
  verdict: Verdict.nullable(),
  gate: z.number(),
  gateOn: z.enum(["lower", "point"]),
  retention: Assessment.shape.retention,
  prefixGain: z.number().nullable(),
  kl: z.number(),
  kvCosine: z.object({ k: z.number(), v: z.number() }),
  pilotAlone: z.number().nullable(),
  /** The gain over the pilot: positions recovered less lost, as a share of all counted ones. */
  netRescue: Estimate.nullable(),
  warnings: z.array(Warning),
  sentence: z.string(),
  /** Tokens from which a transfer beats the target's prefill; null where it never did or was not measured. */
  paysFrom: z.number().int().nullable(),
  developmentOnly: z.boolean(),
  measuredAt: z.date(),
});
export type ScoreSummary = z.infer<typeof ScoreSummary>;

export const CalibrationOut = z.object({
  id: z.uuid(),
  pairId: z.uuid(),
  pairName: z.string(),
  sourceModel: z.string(),
  targetModel: z.string(),
  control: z.boolean(),
  state: CalibrationState,
  /** Number of the newest attempt; 0 before a worker took the run. */
  attempt: z.number().int(),
  attempts: z.array(
    z.object({
      id: z.uuid(),
      number: z.number().int(),
      state: CalibrationState,
      worker: z.string(),
      startedAt: z.date(),
      finishedAt: z.date().nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
  stage: z.string().nullable(),
  percent: z.number(),
  rate: z.number().nullable(),
  unit: z.string().nullable(),
  lastSeq: z.number().int(),
  lastUpdateAt: z.date().nullable(),
  /** Why a queued run waits; of a running one, what its job waits for before it begins, or its mapper to be stored. */
  waitingReason: z.string().nullable(),
  /** Since when it waits for that reason. */
  waitingSince: z.date().nullable(),
  cancelRequested: z.boolean(),
  /** Of a running run that is being cancelled: milliseconds, when this was read, until it is ended without its worker. */
  cancelForcedInMs: z.number().nullable(),
  cancelRequestedAt: z.date().nullable(),
  startedBy: z.string(),
  /** Brought from another host by an administrator: its counts are that host's word. */
  imported: z.boolean(),
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  method: z.string(),
  k: z.number().int(),
  device: z.enum(["auto", "cuda", "rocm", "cpu"]),
  room: CalibrationRoom,
  corpus: z.string(),
  options: CalibrationOptions,
  developmentOnly: z.boolean(),
  verdict: Verdict.nullable(),
  assessment: Assessment.nullable(),
  scores: CalibrationScores.nullable(),
  cost: z.array(CostPoint).nullable(),
  breakEven: BreakEven.nullable(),
  /** Held-out R2 of each target layer's maps, as the run said them. */
  fit: z.array(LayerFit),
  /** How many runs of this pair were scored on this corpus's gate probes, this one included; 0 without a score. */
  gateLooks: z.number().int(),
  /** What the corpus was found to be; null before a worker has read it. */
  corpusUsed: CorpusFacts.nullable(),
  error: z
    .object({ code: z.string(), message: z.string(), exitCode: z.number().int().nullable() })
    .nullable(),
  mapperId: z.uuid().nullable(),
  mapperSha256: z.string().nullable(),
});
export type CalibrationOut = z.infer<typeof CalibrationOut>;

/** A row of a list: the long parts stay with `calibration.get`. */
export const CalibrationRow = CalibrationOut.omit({
  assessment: true,
  scores: true,
  cost: true,
  breakEven: true,
  fit: true,
  gateLooks: true,
  corpusUsed: true,
  attempts: true,
}).extend({
  score: ScoreSummary.nullable(),
});
export type CalibrationRow = z.infer<typeof CalibrationRow>;
