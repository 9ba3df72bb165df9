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
  const heads = firstNumber(facts, ["num_attention_heads", "n_head", "n_heads"]);
  const hidden = firstNumber(facts, ["hidden_size", "n_embd", "d_model"]);
  return {
    facts,
    modelType: typeof facts.model_type === "string" ? facts.model_type : "",
    layers: firstNumber(facts, ["num_hidden_layers", "n_layer", "n_layers", "num_layers"]),
    kvHeads: keyValueHeads(facts, heads),
    headDim: headDimension(facts, hidden, heads),
    vocabSize: firstNumber(facts, ["vocab_size"]),
    experts: firstNumber(facts, ["num_experts", "num_local_experts", "n_routed_experts"]),
  };
}

/** Multimodal configs keep the language model's facts one level down, some older ones their attention's. */
function flatten(model: ModelFacts): Record<string, unknown> {
  const facts: Record<string, unknown> = { ...model };
  for (const key of ["text_config", "attn_config"]) {
    const inner = facts[key];
    if (isRecord(inner)) Object.assign(facts, withoutNulls(inner));
  }
  return facts;
}

function keyValueHeads(facts: Record<string, unknown>, heads: number | null): number | null {
  const stated = facts.num_key_value_heads ?? facts.num_kv_heads ?? facts.n_head_kv ?? facts.kv_n_heads;
  if (Array.isArray(stated)) {
    const [first] = stated;
    return typeof first === "number" && stated.every((n) => n === first) ? first : null;
  }
  // Falcon's first generation: one KV head is said by a flag alone.
  if (facts.multi_query === true && facts.new_decoder_architecture !== true) return 1;
  if (typeof stated === "number") return positive(stated);
  return heads;
}

function headDimension(
  facts: Record<string, unknown>,
  hidden: number | null,
  heads: number | null,
): number | null {
  const stated = firstNumber(facts, ["head_dim", "attention_head_dim", "kv_channels"]);
  if (stated !== null) return stated;
  if (hidden === null || heads === null) return null;
  return Number.isInteger(hidden / heads) ? hidden / heads : null;
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

function withoutNulls(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
}
