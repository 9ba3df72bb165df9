import { type Architecture, isRecord } from "./architecture";
import kinds from "./kinds.json";

const UNDOABLE = new Set(kinds.rope_can_be_undone);
const DYNAMIC = new Set(kinds.rope_changes_with_length);
const WITHOUT_ROPE = new Set(kinds.without_rope);

/** Why keys cannot be taken out of their positions: no RoPE, or not in every layer; empty where they can. */
export function missingRope(model: Architecture): string[] {
  const { facts, modelType } = model;
  const found: string[] = [];
  const embedding =
    facts.position_embedding_type ?? facts.position_embeddings_type ?? facts.positional_encoding_type;
  const rotates = typeof embedding === "string" && /^(rope|rotary)/i.test(embedding);
  if (typeof embedding === "string" && !rotates) found.push(`its position embedding is "${embedding}"`);
  if (facts.alibi === true || facts.use_alibi === true) found.push("it uses ALiBi");
  if ([facts.use_rope, facts.rope, facts.use_rotary, facts.rotary].some((flag) => flag === false))
    found.push("its config switches rotary embeddings off");
  if ([facts.partial_rotary_factor, facts.rotary_pct, facts.rotary_dim].some((share) => share === 0))
    found.push("it rotates no part of a head");
  found.push(...layersWithout(model));
  for (const type of ropeTypes(facts)) {
    if (type === "mrope") found.push("its positions have three parts (MRoPE), one for each axis of an image");
    else if (!UNDOABLE.has(type) && !DYNAMIC.has(type))
      found.push(`nothing is known of how its RoPE type "${type}" is undone`);
  }
  if (found.length > 0) return found;
  if (WITHOUT_ROPE.has(modelType)) return [`${modelType} has no rotary embedding`];
  const stated =
    rotates ||
    ropeTypes(facts).length > 0 ||
    [
      "rope_theta",
      "rotary_emb_base",
      "rotary_dim",
      "rotary_pct",
      "partial_rotary_factor",
      "rope_parameters",
    ].some((key) => facts[key] != null);
  // Where a kind is known to rotate, an older config may leave theta at its default.
  const known =
    kinds.full_with_rope.includes(modelType) ||
    kinds.latent.includes(modelType) ||
    (modelType in kinds.not_full && !WITHOUT_ROPE.has(modelType));
  return stated || known ? [] : ["its config names no rotary embedding"];
}

/** SmolLM3 and Llama 4 list 1 for a layer that rotates and 0 for one that does not, or give every n-th. */
function layersWithout({ facts, modelType }: Architecture): string[] {
  const list = facts.no_rope_layers ?? facts.nope_layers;
  if (Array.isArray(list) && list.length > 0) {
    const flags = list.every((value) => value === 0 || value === 1 || typeof value === "boolean");
    const without = flags ? list.filter((value) => !value).length : list.length;
    return without > 0 ? [`${without} of its layers have no rotary embedding`] : [];
  }
  const interval = facts.no_rope_layer_interval ?? facts.nope_layer_interval;
  if (typeof interval === "number" && interval > 0)
    return [`every ${interval}th layer has no rotary embedding`];
  if (modelType === "smollm3" || modelType.startsWith("llama4"))
    return ["every 4th layer has no rotary embedding"];
  const windowed = typeof facts.sliding_window === "number" && facts.sliding_window > 0;
  if (
    ["cohere2", "exaone_moe", "afmoe"].includes(modelType) ||
    (modelType === "exaone4" && (windowed || !Array.isArray(facts.layer_types)))
  )
    return ["its layers of full attention have no rotary embedding"];
  return [];
}

/** Whether the rotation's base changes with the length of the sequence. */
export function dynamicRope(model: Architecture): string[] {
  const found = ropeTypes(model.facts)
    .filter((type) => DYNAMIC.has(type))
    .map((type) => `its RoPE scaling is "${type}"`);
  if (model.facts.use_dynamic_ntk === true) found.push("it has use_dynamic_ntk");
  return found;
}

/** RoPE types named by any spelling, by layer kind where the config gives one for each. */
function ropeTypes(facts: Record<string, unknown>): string[] {
  const found = new Set<string>();
  const visit = (value: unknown, depth: number): void => {
    if (!isRecord(value) || depth > 2) return;
    for (const key of ["rope_type", "type"]) {
      const type = value[key];
      if (typeof type === "string") found.add(type.toLowerCase());
    }
    if (Array.isArray(value.mrope_section)) found.add("mrope");
    for (const inner of Object.values(value)) visit(inner, depth + 1);
  };
  visit(facts.rope_scaling, 0);
  visit(facts.rope_parameters, 0);
  return [...found];
}
