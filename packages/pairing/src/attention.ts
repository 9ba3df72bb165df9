import { type Architecture, firstNumber, isRecord } from "./architecture";

const FULL = new Set(["full_attention", "attention", "full", "global", "global_attention", "self_attention"]);
/** Layers without attention of their own in stacks that list feed-forward blocks apart. */
const NO_ATTENTION_NEEDED = new Set(["mlp", "moe", "feed_forward"]);

/** Kinds that mix in other layers by construction, also where a config leaves the defaults unsaid. */
const NEVER_FULL: Record<string, string> = {
  gemma2: "every other layer has a sliding window",
  gemma3: "most layers have a sliding window",
  gemma3_text: "most layers have a sliding window",
  gemma3n: "most layers have a sliding window",
  gemma3n_text: "most layers have a sliding window",
  gemma4: "most layers have a sliding window",
  gemma4_text: "most layers have a sliding window",
  gpt_oss: "every other layer has a sliding window",
  gpt_neo: "every other layer looks at a local window",
  cohere2: "most layers have a sliding window",
  llama4: "most layers attend within a chunk",
  llama4_text: "most layers attend within a chunk",
  modernbert: "most layers look at a local window",
  longformer: "layers look at a local window",
  big_bird: "attention is sparse",
  recurrent_gemma: "most layers are recurrent",
  mamba: "layers are state-space layers",
  mamba2: "layers are state-space layers",
  falcon_mamba: "layers are state-space layers",
  rwkv: "layers are recurrent",
  xlstm: "layers are recurrent",
  jamba: "most layers are state-space layers",
  bamba: "most layers are state-space layers",
  zamba: "most layers are state-space layers",
  zamba2: "most layers are state-space layers",
  plamo2: "most layers are state-space layers",
  nemotron_h: "most layers are state-space layers",
  falcon_h1: "every layer has a state-space part",
  qwen3_next: "most layers are linear attention",
  qwen3_5: "most layers are linear attention",
  qwen3_5_text: "most layers are linear attention",
  qwen3_5_moe: "most layers are linear attention",
  kimi_linear: "most layers are linear attention",
  minimax: "most layers are linear attention",
  lfm2: "most layers are convolutions",
  lfm2_moe: "most layers are convolutions",
};

const SPARSE = ["sparse_config", "sparse_attention_config", "blocksparse_params"];

/** In these the window is off unless `use_sliding_window` says otherwise. */
const WINDOW_OFF_BY_DEFAULT = /^qwen[23]/;

/** Every way in which the model's attention is not full over the whole context, in words; empty where it is. */
export function partialAttention(model: Architecture): string[] {
  const { facts } = model;
  const named = namedLayers(facts);
  const found = [...named.found, ...windows(model, named.listed), ...otherMixers(facts)];
  const inherent = NEVER_FULL[model.modelType];
  if (inherent && found.length === 0 && !named.listed) found.push(`in ${model.modelType} ${inherent}`);
  return found;
}

function namedLayers(facts: Record<string, unknown>): { found: string[]; listed: boolean } {
  const found: string[] = [];
  let listed = false;
  for (const key of ["layer_types", "layers_block_type", "block_types", "attention_layers"]) {
    const kinds = facts[key];
    if (!Array.isArray(kinds) || kinds.length === 0) continue;
    listed = true;
    const other = kinds.filter((kind) => !FULL.has(String(kind)) && !NO_ATTENTION_NEEDED.has(String(kind)));
    if (other.length > 0) {
      found.push(
        `${key} has ${other.length} of ${kinds.length} layers of kind ${[...new Set(other)].join(", ")}`,
      );
    }
  }
  const types = facts.attention_types;
  if (Array.isArray(types) && /local|sliding|linear/.test(JSON.stringify(types)))
    found.push("attention_types names local layers");
  const flags = facts.attn_type_list;
  if (Array.isArray(flags) && flags.some((flag) => flag === 0))
    found.push("attn_type_list names linear attention layers");
  return { found, listed };
}

function windows(model: Architecture, listed: boolean): string[] {
  const { facts } = model;
  const found: string[] = [];
  const window = firstNumber(facts, ["sliding_window", "sliding_window_size"]);
  if (window !== null && !listed && windowUsed(model, window))
    found.push(`a sliding window of ${window} tokens is in use`);
  const chunk = firstNumber(facts, ["attention_chunk_size"]);
  if (chunk !== null && !listed) found.push(`layers attend within chunks of ${chunk} tokens`);
  for (const key of [
    "attention_window",
    "attention_window_size",
    "local_attention",
    "local_attention_window",
  ]) {
    const value = facts[key];
    if ((typeof value === "number" && value > 0) || Array.isArray(value))
      found.push(`${key} limits what layers look at`);
  }
  return found;
}

function windowUsed(model: Architecture, window: number): boolean {
  const { facts, layers, modelType } = model;
  const use = facts.use_sliding_window;
  if (use === false) return false;
  if (use !== true && WINDOW_OFF_BY_DEFAULT.test(modelType)) return false;
  // Qwen windows only the layers from max_window_layers on; others window every n-th layer or all.
  const from = facts.max_window_layers;
  if (use === true && typeof from === "number" && layers !== null && from >= layers) return false;
  if (facts.sliding_window_pattern === 1) return false;
  const context = firstNumber(facts, ["max_position_embeddings"]);
  return context === null || window < context;
}

function otherMixers(facts: Record<string, unknown>): string[] {
  const found: string[] = [];
  const keys = Object.keys(facts).filter(
    (key) => facts[key] !== null && facts[key] !== undefined && facts[key] !== false,
  );
  if (keys.some((key) => /^(mamba_|ssm_|use_mamba$|n_mamba_heads$|time_step_rank$)/.test(key))) {
    found.push("state-space (mamba) layers stand beside attention");
  }
  if (
    keys.some((key) =>
      /^(linear_num_|linear_key_|linear_value_|linear_conv_|linear_attn_|linear_attention)/.test(key),
    )
  ) {
    found.push("linear attention layers stand beside full ones");
  }
  for (const key of ["attn_layer_period", "full_attention_interval", "attention_layer_period"]) {
    const value = facts[key];
    if (typeof value === "number" && value > 1)
      found.push(`only every ${value}th layer is attention (${key})`);
  }
  const attentionLayers = facts.attn_layer_indices ?? facts.full_attn_idxs;
  const layers = firstNumber(facts, ["num_hidden_layers"]);
  if (Array.isArray(attentionLayers) && (layers === null || attentionLayers.length < layers)) {
    found.push("only some layers are attention");
  }
  if (typeof facts.hybrid_override_pattern === "string" && /[Mm]/.test(facts.hybrid_override_pattern)) {
    found.push("hybrid_override_pattern names state-space layers");
  }
  if (SPARSE.some((key) => isRecord(facts[key])) || firstNumber(facts, ["index_topk"]) !== null) {
    found.push("attention is sparse: each token looks at chosen blocks only");
  }
  if (firstNumber(facts, ["num_kv_shared_layers"]) !== null || facts.use_cla === true) {
    found.push("layers share one another's KV cache");
  }
  if (Array.isArray(facts.cross_attention_layers) && facts.cross_attention_layers.length > 0) {
    found.push("some layers attend to an image and not to the text");
  }
  if (facts.is_encoder_decoder === true) found.push("it is an encoder and a decoder, with a cache for each");
  return found;
}
