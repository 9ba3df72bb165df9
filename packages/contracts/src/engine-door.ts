import { z } from "zod";
import { FallbackReason } from "./states";

/** Request field that the gateway sets on the pilot's stage leg; a caller can never set it. */
export const StageParams = z.object({
  do_stage: z.literal(true),
  /** 128 random bits, hex, one use. */
  handle: z.string().regex(/^[0-9a-f]{32}$/),
  mac: z.string(),
  ttl_ms: z.number().int(),
  /** Rows before it are held by the other model already, and are not staged. */
  from_token: z.number().int().min(0).optional(),
  native_salt: z.string().optional(),
});
export type StageParams = z.infer<typeof StageParams>;

/** Request field on the target's leg. */
export const TransferParams = z.object({
  handle: z.string().regex(/^[0-9a-f]{32}$/),
  mac: z.string(),
  mapper_sha256: z.string(),
  source_model: z.string(),
  native_salt: z.string().optional(),
});
export type TransferParams = z.infer<typeof TransferParams>;

/**
 * A further turn under the salt of a conversation's mapped line: `native_salt` is the tenant's own, under which the blocks
 * lie that the model computed itself.
 */
export const LineParams = z.object({ native_salt: z.string() });
export type LineParams = z.infer<typeof LineParams>;

/** What the engine reports back under the same name, in the body or the last stream chunk. */
export const TransferReport = z.looseObject({
  result: z.enum(["transferred", "fallback", "staged"]),
  reason: FallbackReason.nullish(),
  tokens_moved: z.number().int().nullish(),
  /** Found in the answering model's own line, and not moved again. */
  tokens_reused: z.number().int().nullish(),
  tail_tokens: z.number().int().nullish(),
  map_ms: z.number().nullish(),
  install_ms: z.number().nullish(),
  tail_ms: z.number().nullish(),
});
export type TransferReport = z.infer<typeof TransferReport>;

export const EngineTiming = z.looseObject({
  queue_ms: z.number().nullish(),
  prefill_ms: z.number().nullish(),
  first_token_ms: z.number().nullish(),
});
export type EngineTiming = z.infer<typeof EngineTiming>;
