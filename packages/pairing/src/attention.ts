import { type Architecture, differingBlocks, firstNumber, isRecord, isSet } from "./architecture";
import kinds from "./kinds.json";

const FULL = new Set(kinds.full_layers);
const HARMLESS = new Set([...kinds.harmless_keys, ...kinds.layer_lists]);
const SUSPICIOUS = new RegExp(kinds.suspicious_keys, "i");
const STATE_SPACE = new RegExp(kinds.state_space_keys);
const NOT_FULL: Record<string, string> = kinds.not_full;

/** Every way in which the model's attention is not full over the whole context, in words; empty where it is. */
export function partialAttention(model: Architecture): string[] {
  const { facts } = model;
  const named = namedLayers(facts);
  const found = [
    ...named.found,
    ...windows(model, named.listed),
    ...otherMixers(model, named.listed),
    ...unknownSigns(facts),
  ];
  const inherent = NOT_FULL[model.modelType];
  const trusted = named.listed && kinds.full_where_layers_are_listed.includes(model.modelType);
  if (inherent && found.length === 0 && !trusted) found.push(`in ${model.modelType} ${inherent}`);
  return found;
}

function namedLayers(facts: Record<string, unknown>): { found: string[]; listed: boolean } {
  const found: string[] = [];
  let listed = false;
  for (const key of kinds.layer_lists) {
    const layers = facts[key];
    if (!Array.isArray(layers) || layers.length === 0) continue;
    listed = true;
    const other = layers.filter((kind) => !FULL.has(String(kind)));
    if (other.length > 0) {
      found.push(
        `${key} has ${other.length} of ${layers.length} layers of kind ${[...new Set(other)].join(", ")}`,
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
  return found;
}

function windowUsed(model: Architecture, window: number): boolean {
  const { facts, layers, modelType } = model;
  const use = facts.use_sliding_window;
  if (use === false) return false;
  if (use !== true && kinds.window_off_by_default.includes(modelType)) return false;
  // Qwen windows only the layers from max_window_layers on; others window every n-th layer or all.
  const from = facts.max_window_layers;
  if (use === true && typeof from === "number" && layers !== null && from >= layers) return false;
  if (facts.sliding_window_pattern === 1) return false;
  const context = firstNumber(facts, ["max_position_embeddings"]);
  return context === null || window < context;
}

function otherMixers(model: Architecture, listed: boolean): string[] {
  const { facts, layers } = model;
  const found: string[] = [];
  // A hybrid's config keeps its state-space numbers also where every listed layer is attention.
  const unused = listed && kinds.full_where_layers_are_listed.includes(model.modelType);
  if (!unused && Object.keys(facts).some((key) => STATE_SPACE.test(key) && isSet(facts[key])))
    found.push("state-space (mamba) layers stand beside attention");
  for (const key of ["attn_layer_period", "full_attention_interval", "attention_layer_period"]) {
    const value = facts[key];
    if (typeof value === "number" && value > 1)
      found.push(`only every ${value}th layer is attention (${key})`);
  }
  const attentionLayers = facts.attn_layer_indices ?? facts.full_attn_idxs;
  if (Array.isArray(attentionLayers) && (layers === null || attentionLayers.length < layers))
    found.push("only some layers are attention");
  if (typeof facts.hybrid_override_pattern === "string" && /[Mm]/.test(facts.hybrid_override_pattern))
    found.push("hybrid_override_pattern names state-space layers");
  if (isRecord(facts.blocksparse_params)) found.push("attention is sparse in blocks");
  if (firstNumber(facts, ["num_kv_shared_layers"]) !== null || facts.use_cla === true)
    found.push("layers share one another's KV cache");
  if (Array.isArray(facts.cross_attention_layers) && facts.cross_attention_layers.length > 0)
    found.push("some layers attend to an image and not to the text");
  if (facts.is_encoder_decoder === true) found.push("it is an encoder and a decoder, with a cache for each");
  if (facts.is_causal === false || facts.use_bidirectional_attention === true)
    found.push("tokens attend to later ones");
  if (differingBlocks(facts)) found.push("block_configs gives layers attention of different kinds");
  return found;
}

/** Settings by whose name alone attention may be another: what is not known to be harmless is refused. */
function unknownSigns(facts: Record<string, unknown>): string[] {
  const signs = Object.keys(facts).filter(
    (key) => SUSPICIOUS.test(key) && !HARMLESS.has(key) && !STATE_SPACE.test(key) && isSet(facts[key]),
  );
  return signs.length > 0 ? [`${signs.join(", ")}: not known to leave attention full`] : [];
}
