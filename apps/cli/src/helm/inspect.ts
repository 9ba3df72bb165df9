import { locatePython } from "@helm/host";
import type { Context } from "../context";
import { locateModel, readFacts } from "../models";
import { formatBytes, table } from "../terminal/style";

const SHOWN = [
  "model_type",
  "num_hidden_layers",
  "hidden_size",
  "num_attention_heads",
  "num_key_value_heads",
  "head_dim",
  "vocab_size",
  "max_position_embeddings",
  "rope_theta",
  "rope_scaling",
  "layer_types",
  "sliding_window",
  "k_norm",
  "torch_dtype",
  "quantization",
  "parameters",
  "bytes",
  "tokenizer",
  "weights_sha256",
];

/** What a model is, as the pairing rules see it. */
export async function inspect(context: Context, model: string): Promise<void> {
  const located = await locateModel(model, context.config);
  const facts = await readFacts(located, locatePython(context.config.python));
  context.screen.answer({ type: "inspection", facts }, () => {
    const record: Record<string, unknown> = facts;
    const rows = SHOWN.filter((key) => record[key] !== null && record[key] !== undefined).map((key) => [
      key,
      show(key, record[key]),
    ]);
    return [
      context.screen.style.bold(facts.id),
      ...table(["fact", "value"], rows)
        .slice(1)
        .map((line) => `  ${line}`),
    ];
  });
}

function show(key: string, value: unknown): string {
  if (key === "bytes" && typeof value === "number") return formatBytes(value);
  if (key === "parameters" && typeof value === "number") return value.toLocaleString("en-US");
  if (Array.isArray(value)) return [...new Set(value.map(String))].join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
