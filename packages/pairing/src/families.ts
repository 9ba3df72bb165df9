import { type Architecture, isRecord } from "./architecture";

/** One reviewed row: models whose caches are known to be carried across, told apart by facts, never by name. */
export interface Family {
  name: string;
  modelTypes: string[];
  vocabSizes: number[];
  /** Further facts where type and vocabulary are shared with another family. */
  rope?: { type: string; factor?: number };
  /** Digests of the tokenizer's content, where they are known; empty: not known, any that the pair shares. */
  tokenizers: string[];
  /** Where to look, for a person; never matched. */
  idHint: string;
}

export const FAMILIES: readonly Family[] = [
  {
    name: "Qwen3",
    modelTypes: ["qwen3", "qwen3_moe"],
    vocabSizes: [151936],
    tokenizers: [],
    idHint: "Qwen/Qwen3-*",
  },
  {
    name: "Qwen2.5",
    modelTypes: ["qwen2"],
    vocabSizes: [151936, 152064],
    tokenizers: [],
    idHint: "Qwen/Qwen2.5-*",
  },
  {
    name: "Llama 3.1",
    modelTypes: ["llama"],
    vocabSizes: [128256],
    rope: { type: "llama3", factor: 8 },
    tokenizers: [],
    idHint: "meta-llama/Llama-3.1-*",
  },
  {
    name: "Llama 3.2",
    modelTypes: ["llama"],
    vocabSizes: [128256],
    rope: { type: "llama3", factor: 32 },
    tokenizers: [],
    idHint: "meta-llama/Llama-3.2-*",
  },
  {
    name: "Ministral 3",
    modelTypes: ["ministral3", "mistral3"],
    vocabSizes: [131072],
    rope: { type: "yarn" },
    tokenizers: [],
    idHint: "mistralai/Ministral-3-*",
  },
  {
    name: "Helm bundled",
    modelTypes: ["qwen3"],
    vocabSizes: [1024],
    tokenizers: ["4b6d41ceb7cafbf64c8d749b9ea5213af2588c00a1cb09fd1c15dfcf29a8503f"],
    idHint: "models/pilot, models/target",
  },
];

/** The row that the model's facts match, or null: the model is in no reviewed family. */
export function findFamily(model: Architecture, tokenizer: string | null): Family | null {
  return FAMILIES.find((family) => matches(family, model, tokenizer)) ?? null;
}

function matches(family: Family, model: Architecture, tokenizer: string | null): boolean {
  if (!family.modelTypes.includes(model.modelType)) return false;
  if (model.vocabSize === null || !family.vocabSizes.includes(model.vocabSize)) return false;
  if (family.rope && !ropeMatches(family.rope, model.facts)) return false;
  return tokenizer === null || family.tokenizers.length === 0 || family.tokenizers.includes(tokenizer);
}

function ropeMatches(wanted: { type: string; factor?: number }, facts: Record<string, unknown>): boolean {
  const scaling = [facts.rope_scaling, facts.rope_parameters].find(isRecord);
  if (!scaling) return false;
  const type = scaling.rope_type ?? scaling.type;
  return type === wanted.type && (wanted.factor === undefined || scaling.factor === wanted.factor);
}
