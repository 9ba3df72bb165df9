import { z } from "zod";

/** What a worker reads from a model's folder; the pairing rules decide from these facts alone. */
export const ModelFacts = z.looseObject({
  id: z.string(),
  model_type: z.string().nullish(),
  num_hidden_layers: z.number().int().nullish(),
  hidden_size: z.number().int().nullish(),
  num_attention_heads: z.number().int().nullish(),
  num_key_value_heads: z.number().int().nullish(),
  /** Only where the config gives them layer by layer. */
  num_key_value_heads_per_layer: z.array(z.number().int()).nullish(),
  head_dim: z.number().int().nullish(),
  vocab_size: z.number().int().nullish(),
  rope_theta: z.number().nullish(),
  rope_scaling: z.record(z.string(), z.unknown()).nullish(),
  sliding_window: z.number().int().nullish(),
  use_sliding_window: z.boolean().nullish(),
  layer_types: z.array(z.string()).nullish(),
  /** Digest of the tokenizer's content; null where the folder holds none. */
  tokenizer: z.string().nullish(),
  weights_sha256: z.string().nullish(),
  torch_dtype: z.string().nullish(),
  k_norm: z.boolean().nullish(),
  max_position_embeddings: z.number().int().nullish(),
  quantization: z.string().nullish(),
  parameters: z.number().int().nullish(),
  bytes: z.number().int().nullish(),
});
export type ModelFacts = z.infer<typeof ModelFacts>;

/** One accelerator as NVML or AMD SMI describes it; vendor "none" where the host has none. */
export const DeviceFacts = z.object({
  vendor: z.enum(["nvidia", "amd", "none"]),
  name: z.string(),
  /** "9.0" for NVIDIA, "gfx90a" for AMD, null where it could not be read. */
  capability: z.string().nullable(),
  uuid: z.string().nullish(),
  memory_bytes: z.number().int().nullish(),
  /** Why the capability could not be read, with what to do about it. */
  problem: z.string().nullish(),
});
export type DeviceFacts = z.infer<typeof DeviceFacts>;
