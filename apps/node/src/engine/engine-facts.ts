import { z } from "zod";

/** A model as the engine lists it; fields beyond vLLM's are the reference engine's own. */
export const EngineModel = z
  .looseObject({
    id: z.string(),
    max_model_len: z.number().int().nullish(),
    engine: z.string().nullish(),
    development: z.boolean().nullish(),
    weights_sha256: z.string().nullish(),
    weights_digest: z.string().nullish(),
    /** Answers it decodes side by side. */
    max_batch: z.number().int().positive().nullish(),
  })
  .transform((model) => ({ ...model, weights_sha256: model.weights_sha256 ?? model.weights_digest ?? null }));
export type EngineModel = z.infer<typeof EngineModel>;

export const EngineModelList = z.looseObject({ data: z.array(EngineModel) });

const Share = z.object({ used_bytes: z.number(), budget_bytes: z.number() });

/** GET /helm/memory: measured bytes for each model, and for what they share. */
export const EngineMemory = z.looseObject({
  models: z.record(
    z.string(),
    z.looseObject({
      kv_bytes_per_token: z.number().int().positive(),
      kv_block_tokens: z.number().int().positive(),
      kv_budget_bytes: z.number().int().nonnegative(),
      weights_bytes: z.number().nullish(),
      kv_used_bytes: z.number().nullish(),
      kv_cached_bytes: z.number().nullish(),
      kv_pool_bytes: z.number().nullish(),
      /** Of the pool what lies in memory: its pages come as they are written. */
      kv_touched_bytes: z.number().nullish(),
      /** What the process grew by while the model was loaded, its weights among it. */
      load_bytes: z.number().nullish(),
    }),
  ),
  staging: Share.nullish(),
  mappers: Share.nullish(),
  mappers_host: Share.nullish(),
  /** Of the process before any model was loaded, and of that the pages of libraries' files. */
  runtime_bytes: z.number().nullish(),
  runtime_file_bytes: z.number().nullish(),
  scratch_bytes: z.number().nullish(),
  /** Of the device's memory: free as the system measures it, kept out of all budgets, promised and not touched yet. */
  free_bytes: z.number().nullish(),
  reserve_bytes: z.number().nullish(),
  untouched_bytes: z.number().nullish(),
  process_resident_bytes: z.number().nullish(),
  device_allocated_bytes: z.number().nullish(),
});
export type EngineMemory = z.infer<typeof EngineMemory>;

export const Tokenized = z.looseObject({
  count: z.number().int(),
  max_model_len: z.number().int(),
  tokens: z.array(z.number().int()),
});
export type Tokenized = z.infer<typeof Tokenized>;

/** Bytes of cache that a request may come to hold: whole blocks, the last answer token needs no row. */
export function cacheBytes(
  memory: EngineMemory["models"][string],
  promptTokens: number,
  maxTokens: number,
  answers: number,
): number {
  const blockBytes = memory.kv_bytes_per_token * memory.kv_block_tokens;
  const blocks = (tokens: number) => Math.ceil(tokens / memory.kv_block_tokens);
  const shared = answers > 1 ? Math.floor(promptTokens / memory.kv_block_tokens) : 0;
  return blockBytes * (shared + answers * (blocks(promptTokens + maxTokens - 1) - shared));
}
