import { locatePython } from "@helm/host";
import { judgeModel, type ModelJudgement } from "@helm/pairing";
import type { Context } from "../context";
import { locateModel, readFacts } from "../models";
import { formatBytes, printable, type Style, table, wrap } from "../terminal/style";

const SHOWN = [
  "model_type",
  "num_hidden_layers",
  "hidden_size",
  "num_attention_heads",
  "num_key_value_heads",
  "num_key_value_heads_per_layer",
  "head_dim",
  "v_head_dim",
  "kv_lora_rank",
  "num_experts",
  "vocab_size",
  "max_position_embeddings",
  "rope_theta",
  "rope_scaling",
  "partial_rotary_factor",
  "layer_types",
  "sliding_window",
  "use_sliding_window",
  "k_norm",
  "torch_dtype",
  "quantization",
  "parameters",
  "bytes",
  "tokenizer",
  "weights_sha256",
];

/** What a model is, as the pairing rules see it, and what they make of it by itself. */
export async function inspect(context: Context, model: string): Promise<void> {
  const { screen } = context;
  const located = await locateModel(model, context.config);
  const facts = await readFacts(located, locatePython(context.config.python));
  const judgement = judgeModel(facts);
  screen.answer({ type: "inspection", facts, ...judgement }, () => {
    const record: Record<string, unknown> = facts;
    const rows = SHOWN.filter((key) => record[key] !== null && record[key] !== undefined).map((key) => [
      key,
      printable(show(key, record[key])),
    ]);
    return [
      screen.style.bold(printable(facts.id)),
      ...table(["fact", "value"], rows)
        .slice(1)
        .map((line) => `  ${line}`),
      "",
      ...judged(judgement, screen.style, screen.width),
    ];
  });
}

function judged({ family, causes, notes }: ModelJudgement, style: Style, width: number): string[] {
  const place = family ? `family ${family}` : "in no reviewed family: a pair with itself only";
  const lines = causes.map(({ cause, sentence }) => wrap(printable(`${cause}: ${sentence}`), width, "  "));
  if (causes.length > 0) return [`${style.red("In no pair")}. What forbids it:`, ...lines.flat()];
  return [
    `${style.green("Nothing forbids it")}, ${place}.`,
    ...notes.flatMap((note) => wrap(printable(`note: ${note}`), width, "  ")),
  ];
}

function show(key: string, value: unknown): string {
  if (key === "bytes" && typeof value === "number") return formatBytes(value);
  if (key === "parameters" && typeof value === "number") return value.toLocaleString("en-US");
  if (Array.isArray(value)) return counted(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A list by layer as counts of what is in it, in the order of first sight. */
function counted(values: unknown[]): string {
  const kinds = [...new Set(values.map(String))];
  return kinds
    .map((kind) => `${values.filter((value) => String(value) === kind).length} x ${kind}`)
    .join(", ");
}
