import type { ModelFacts } from "@helm/contracts";

/** A model's facts under one set of names, whatever spelling its config used; null where it says nothing. */
export interface Architecture {
  facts: Record<string, unknown>;
  modelType: string;
  layers: number | null;
  kvHeads: number | null;
  headDim: number | null;
  vocabSize: number | null;
  experts: number | null;
}

export function readArchitecture(model: ModelFacts): Architecture {
  const facts = flatten(model);
  const heads = firstNumber(facts, ["num_attention_heads", "n_head", "n_heads", "num_heads"]);
  const hidden = firstNumber(facts, ["hidden_size", "n_embd", "d_model"]);
  return {
    facts,
    modelType: typeof facts.model_type === "string" ? facts.model_type : "",
    layers: firstNumber(facts, ["num_hidden_layers", "n_layer", "n_layers", "num_layers"]),
    kvHeads: keyValueHeads(facts, heads),
    headDim: headDimension(facts, hidden, heads),
    vocabSize: firstNumber(facts, ["vocab_size"]),
    experts: experts(facts),
  };
}

/** Multimodal configs keep the language model's facts one level down, some older ones their attention's. */
function flatten(model: ModelFacts): Record<string, unknown> {
  const facts: Record<string, unknown> = { ...model };
  for (const key of ["text_config", "attn_config"]) {
    const inner = facts[key];
    if (!isRecord(inner)) continue;
    const { model_type: kind, ...rest } = inner;
    Object.assign(facts, withoutNulls(key === "text_config" ? { ...rest, model_type: kind } : rest));
  }
  return facts;
}

/** Null where layers differ, so that nothing stands in for what they do not share. */
function keyValueHeads(facts: Record<string, unknown>, heads: number | null): number | null {
  const stated = [
    facts.num_key_value_heads_per_layer,
    facts.num_key_value_heads,
    facts.num_kv_heads,
    facts.n_head_kv,
    facts.kv_n_heads,
    facts.multi_query_group_num,
  ].find((value) => value !== null && value !== undefined);
  if (Array.isArray(stated)) {
    const [first] = stated;
    return typeof first === "number" && stated.every((n) => n === first) ? positive(first) : null;
  }
  if (differingBlocks(facts)) return null;
  // Falcon's first generation: one KV head is said by a flag alone.
  if (facts.multi_query === true && facts.new_decoder_architecture !== true) return 1;
  if (typeof stated === "number") return positive(stated);
  return stated === undefined ? heads : null;
}

/** Architectures found by search give each layer's attention apart, some layers none at all. */
export function differingBlocks(facts: Record<string, unknown>): boolean {
  const blocks = facts.block_configs;
  return Array.isArray(blocks) && new Set(blocks.map((block) => JSON.stringify(block))).size > 1;
}

function headDimension(
  facts: Record<string, unknown>,
  hidden: number | null,
  heads: number | null,
): number | null {
  const stated = firstNumber(facts, ["head_dim", "attention_head_dim", "kv_channels", "d_kv"]);
  if (stated !== null) return stated;
  if (hidden === null || heads === null) return null;
  return Number.isInteger(hidden / heads) ? hidden / heads : null;
}

function experts(facts: Record<string, unknown>): number | null {
  const names = ["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"];
  const inner = isRecord(facts.ffn_config) ? firstNumber(facts.ffn_config, names) : null;
  return firstNumber(facts, names) ?? inner;
}

export function firstNumber(facts: Record<string, unknown>, keys: string[]): number | null {
  for (const key of keys) {
    const value = facts[key];
    if (typeof value === "number") {
      const found = positive(value);
      if (found !== null) return found;
    }
  }
  return null;
}

function positive(value: number): number | null {
  return Number.isFinite(value) && value > 0 ? value : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a config's value says something: not null, not off, not empty. */
export function isSet(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0 || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function withoutNulls(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
}
