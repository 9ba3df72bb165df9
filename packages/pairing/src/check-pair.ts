import type { ModelFacts, PairCause } from "@helm/contracts";
import { type Architecture, firstNumber, readArchitecture } from "./architecture";
import { partialAttention } from "./attention";
import { findFamily } from "./families";
import kinds from "./kinds.json";
import { dynamicRope, missingRope } from "./rotary";

export interface CauseFound {
  cause: PairCause;
  /** Which model it lies with; `both` where it lies between them or with each. */
  model: "source" | "target" | "both";
  sentence: string;
}

export interface PairCheck {
  ok: boolean;
  /** The same model on both sides. */
  control: boolean;
  family: string | null;
  /** Every cause that holds, not the first. */
  causes: CauseFound[];
  /** What a person should know of an allowed pair too. */
  notes: string[];
}

/** Decides from facts alone whether (source, target) may be registered. */
export function checkPair(
  source: ModelFacts,
  target: ModelFacts,
  options: { requireTokenizer: boolean },
): PairCheck {
  const from = readArchitecture(source);
  const to = readArchitecture(target);
  const control = isSameModel(source, target);
  const notes: string[] = [];
  const families = [findFamily(from, source.tokenizer ?? null), findFamily(to, target.tokenizer ?? null)];
  const causes = [
    ...familyCauses(
      { id: source.id, architecture: from, family: families[0]?.name ?? null },
      { id: target.id, architecture: to, family: families[1]?.name ?? null },
      control,
    ),
    ...tokenizerCauses(source, target, control, options.requireTokenizer, notes),
    ...shapeCauses(from, to),
    ...ownCauses(source.id, target.id, from, to, control),
  ];
  if (control) notes.unshift("control pair: the same model on both sides, served on development nodes only");
  const experts = [from, to].some((model) => model.experts !== null && model.experts > 1);
  if (experts && causes.length === 0) notes.push("mixture of experts: allowed in its family, untested");
  if (causes.length === 0) notes.push(...quantisationNotes(source, target));
  return {
    ok: causes.length === 0,
    control,
    family: families[0] && families[0] === families[1] ? families[0].name : null,
    causes,
    notes,
  };
}

export interface ModelJudgement {
  family: string | null;
  /** What forbids it in any pair, by itself. */
  causes: CauseFound[];
  notes: string[];
}

/** What can be said of one model alone: its family, and every cause that lies with it. */
export function judgeModel(model: ModelFacts): ModelJudgement {
  const { family, causes, notes } = checkPair(model, model, { requireTokenizer: false });
  return { family, causes, notes: notes.slice(1) };
}

function quantisationNotes(source: ModelFacts, target: ModelFacts): string[] {
  return [...new Set([source, target])]
    .filter((model) => typeof model.quantization === "string")
    .map(
      (model) => `${model.id} is quantised (${model.quantization}): a mapper holds for these very weights`,
    );
}

/** Weights decide where both are known; else the id together with every other fact. */
function isSameModel(source: ModelFacts, target: ModelFacts): boolean {
  if (source.weights_sha256 && target.weights_sha256) return source.weights_sha256 === target.weights_sha256;
  return source.id === target.id && canonical(source) === canonical(target);
}

function canonical(facts: ModelFacts): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== null && inner !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner)]),
    );
  };
  return JSON.stringify(sorted({ ...facts, weights_sha256: null, tokenizer: null }));
}

interface Placed {
  id: string;
  architecture: Architecture;
  family: string | null;
}

function familyCauses(source: Placed, target: Placed, control: boolean): CauseFound[] {
  if (control) {
    const why = unjudged(source.architecture);
    return why ? [{ cause: "family", model: "both", sentence: `${source.id}: ${why}` }] : [];
  }
  if (source.family !== null && target.family !== null) {
    if (source.family === target.family) return [];
    return [
      {
        cause: "family",
        model: "both",
        sentence: `${source.id} is of the family ${source.family}, ${target.id} of ${target.family}; a cache is carried within one family only`,
      },
    ];
  }
  const stray = [source, target].filter((model) => model.family === null);
  const names = [...new Set(stray.map((model) => model.id))];
  const reasons = stray.flatMap((model) => {
    const why = unjudged(model.architecture);
    return why ? [`${model.id}: ${why}`] : [];
  });
  const rule = `${names.join(" and ")} ${names.length === 2 ? "are" : "is"} in no reviewed family (model type, vocabulary size and tokenizer decide)`;
  return [
    {
      cause: "family",
      model: stray.length === 2 ? "both" : source.family === null ? "source" : "target",
      sentence: [rule, ...new Set(reasons)].join("; "),
    },
  ];
}

const KNOWN = new Set([
  ...kinds.full_with_rope,
  ...kinds.full_where_layers_are_listed,
  ...Object.keys(kinds.not_full),
  ...kinds.latent,
  ...kinds.without_rope,
]);

/** Why nothing can be said of a model at all; an architecture that is not known is never allowed by default. */
function unjudged({ facts, modelType, layers, vocabSize }: Architecture): string | null {
  const missing = [
    modelType === "" ? "model_type" : null,
    layers === null ? "num_hidden_layers" : null,
    firstNumber(facts, ["hidden_size", "n_embd", "d_model"]) === null ? "hidden_size" : null,
    vocabSize === null ? "vocab_size" : null,
  ].filter((name) => name !== null);
  if (modelType !== "" && !KNOWN.has(modelType))
    return `nothing is known of the kind "${modelType}", so what its layers attend to cannot be told`;
  return missing.length > 0 ? `its config states no ${missing.join(", ")}` : null;
}

function tokenizerCauses(
  source: ModelFacts,
  target: ModelFacts,
  control: boolean,
  required: boolean,
  notes: string[],
): CauseFound[] {
  const from = source.tokenizer ?? null;
  const to = target.tokenizer ?? null;
  const sizes: CauseFound[] = sameSize(source.vocab_size, target.vocab_size)
    ? []
    : [
        {
          cause: "tokenizer",
          model: "both",
          sentence: `vocabularies of ${source.vocab_size} and ${target.vocab_size} tokens: an answer of one may have no place in the other`,
        },
      ];
  if (from !== null && from === to) return sizes;
  if (from === null && to === null) {
    if (required) {
      return [
        {
          cause: "tokenizer",
          model: "both",
          sentence: control
            ? `${source.id} holds no tokenizer`
            : "neither model holds a tokenizer, so they cannot be compared",
        },
      ];
    }
    notes.push(
      control
        ? "its tokenizer was not compared: the folder holds none"
        : "tokenizers were not compared: neither folder holds one",
    );
    return sizes;
  }
  if (from === null || to === null) {
    const [id, model] = from === null ? ([source.id, "source"] as const) : ([target.id, "target"] as const);
    return [
      {
        cause: "tokenizer",
        model,
        sentence: `${id} holds no tokenizer, the other model does: they cannot be compared`,
      },
    ];
  }
  return [
    {
      cause: "tokenizer",
      model: "both",
      sentence: "the tokenizers differ in content: the same text would become other tokens",
    },
  ];
}

function sameSize(a: number | null | undefined, b: number | null | undefined): boolean {
  return a == null || b == null || a === b;
}

function shapeCauses(from: Architecture, to: Architecture): CauseFound[] {
  const causes: CauseFound[] = [];
  const compare = (cause: PairCause, what: string, a: number | null, b: number | null) => {
    if (a !== null && a === b) return;
    const model = a === null && b !== null ? "source" : b === null && a !== null ? "target" : "both";
    const sentence =
      a === null || b === null
        ? `${model === "both" ? "the configs state" : `the ${model}'s config states`} no single ${what} for every layer`
        : `${what}: ${a} in the source, ${b} in the target; they must be equal`;
    causes.push({ cause, model, sentence });
  };
  compare("kv_heads", "number of KV heads", from.kvHeads, to.kvHeads);
  compare("head_dim", "head dimension", from.headDim, to.headDim);
  return causes;
}

/** Causes that lie with one model alone, each named once where both are the same model. */
function ownCauses(
  sourceId: string,
  targetId: string,
  from: Architecture,
  to: Architecture,
  control: boolean,
): CauseFound[] {
  const rules: [PairCause, (model: Architecture) => string[]][] = [
    ["not_full_attention", partialAttention],
    ["mla", latentAttention],
    ["no_rope", missingRope],
    ["dynamic_ntk", dynamicRope],
    ["head_dim", unevenHeads],
  ];
  return rules.flatMap(([cause, rule]) => {
    const say = (id: string, model: CauseFound["model"], found: string[]): CauseFound[] =>
      found.length > 0 ? [{ cause, model, sentence: `${id}: ${found.join("; ")}` }] : [];
    if (control) return say(sourceId, "both", rule(from));
    return [...say(sourceId, "source", rule(from)), ...say(targetId, "target", rule(to))];
  });
}

/** Multi-head latent attention caches a compressed latent, not keys and values of heads. */
function latentAttention({ facts, modelType }: Architecture): string[] {
  const rank = facts.kv_lora_rank;
  if (typeof rank === "number" && rank > 0)
    return [`multi-head latent attention (kv_lora_rank ${rank}) caches a latent, not heads`];
  const split = firstNumber(facts, ["qk_rope_head_dim", "qk_nope_head_dim"]) !== null;
  return split || kinds.latent.includes(modelType)
    ? ["multi-head latent attention caches a latent, not heads"]
    : [];
}

/** Without latent attention, values of another width than keys fit no map of ours. */
function unevenHeads(model: Architecture): string[] {
  const value = model.facts.v_head_dim;
  if (latentAttention(model).length > 0 || typeof value !== "number" || model.headDim === null) return [];
  return value === model.headDim ? [] : [`its values are ${value} wide and its keys ${model.headDim}`];
}
