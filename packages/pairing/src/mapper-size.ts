import type { METHODS, MethodChoice, ModelFacts } from "@helm/contracts";
import { readArchitecture } from "./architecture";

/** Bytes of one weight: a GPU's run keeps bf16, a CPU's float32. */
export const WEIGHT_BYTES = { float32: 4, bfloat16: 2 } as const;
export type WeightType = keyof typeof WEIGHT_BYTES;

/** What a job takes where it was told "default"; packages/kv's methods.py says the same. */
export const DEFAULT_METHOD = "renorm";

export interface MapperSize {
  parameters: number;
  /** Of the weights alone; a file holds its manifest beside them, and the constant first tokens where a run kept any. */
  bytes: number;
  /** The formula with this pair's numbers in it. */
  how: string;
}

export interface MapperShape {
  method: MethodChoice;
  k: number;
  weights: WeightType;
}

/**
 * What a mapper's weights take. Each of the target's layers has one map for keys and one for values, from the KV heads of
 * k source layers onto all target heads, with a bias; a head-local map reads one source head of each of the k layers.
 * Null where a fact that it takes is not known.
 */
export function mapperSize(source: ModelFacts, target: ModelFacts, shape: MapperShape): MapperSize | null {
  const from = readArchitecture(source);
  const to = readArchitecture(target);
  const { layers, kvHeads: heads, headDim: dim } = to;
  const { kvHeads: sourceHeads, headDim: sourceDim } = from;
  if (!layers || !heads || !dim || !sourceHeads || !sourceDim) return null;
  const k = from.layers === null ? shape.k : Math.min(shape.k, from.layers);
  const method = shape.method === "default" ? DEFAULT_METHOD : shape.method;
  const local = isHeadLocal(method);
  const inputs = local ? k * sourceDim : k * sourceHeads * sourceDim;
  const outputs = heads * dim;
  const ending = endsWithNorm(method) && target.k_norm === true ? dim : 0;
  const parameters = layers * (2 * (inputs * outputs + outputs) + ending);
  const bytes = parameters * WEIGHT_BYTES[shape.weights];
  const reads = local ? `${k} x ${sourceDim}` : `${k} x ${sourceHeads} x ${sourceDim}`;
  const how = `${layers} layers x 2 x ((${reads}) x (${heads} x ${dim}) + ${heads} x ${dim})${ending ? ` + ${layers} x ${dim}` : ""} weights of ${WEIGHT_BYTES[shape.weights]} bytes (${shape.weights}), method ${method}, k ${k}`;
  return { parameters, bytes, how };
}

function isHeadLocal(method: keyof typeof METHODS): boolean {
  return method.startsWith("head-local");
}

function endsWithNorm(method: keyof typeof METHODS): boolean {
  return method.includes("norm");
}
