import {
  ArmName,
  CalibrationScores,
  CorpusFacts,
  CostPoint,
  ModelFacts,
  SequenceCounts,
  Sha256,
  SideFit,
} from "@helm/contracts";
import { z } from "zod";

const Naturals = z.array(z.number().int().min(0)).max(4096);
const Count = z.number().int().min(1).max(4096);
const Rows = z.array(SequenceCounts).max(20_000);

/** One side of the pair: what names the model beyond doubt, and what its cache's shape follows from. */
const Side = ModelFacts.and(
  z.looseObject({
    weights_sha256: Sha256,
    tokenizer: z.string().min(1),
    num_hidden_layers: Count,
    num_key_value_heads: Count,
    head_dim: Count,
  }),
);

const LayerMap = z.looseObject({
  k: Naturals.min(1),
  v: Naturals.min(1),
  renormalised: z.boolean(),
  ending: z.literal("k_norm").optional(),
  heads: z.strictObject({ k: z.array(Naturals).optional(), v: z.array(Naturals).optional() }).optional(),
});
export type LayerMap = z.infer<typeof LayerMap>;

/** The manifest inside a mapper's file, as far as an import needs it; a run's own file holds every sequence's counts. */
export const MapperManifest = z.looseObject({
  schema: z.literal(1),
  method: z.string().min(1).max(60),
  k: z.number().int().min(1).max(512),
  dtype: z.enum(["float32", "bfloat16"]),
  device: z.enum(["cpu", "cuda", "rocm"]),
  development: z.boolean(),
  source: Side,
  target: Side,
  layers: z.array(LayerMap).max(4096),
  constant_head: Naturals,
  corpus: CorpusFacts,
  seeds: z.record(z.string(), z.unknown()).optional(),
  versions: z.record(z.string(), z.string()),
  scores: CalibrationScores,
  cost: z.array(CostPoint).max(100),
  fit: z.array(z.object({ k: SideFit, v: SideFit })).max(4096),
  /** By arm; the mapper's rows on the report split and beyond the fitted length stand apart. */
  counts: z.partialRecord(z.union([ArmName, z.enum(["report", "long"])]), Rows),
});
export type MapperManifest = z.infer<typeof MapperManifest>;
