import type { ModelFacts } from "@helm/contracts";
import { Card } from "../../ui/card";
import { FigureTable } from "../../ui/chart-frame";
import { bytes, count } from "../../ui/numbers";
import type { Pair } from "./pair-words";

const number = (value: number | null | undefined) =>
  value === null || value === undefined ? "unknown" : count(value);

const ROWS: [string, (model: ModelFacts) => string][] = [
  ["Layers", (model) => number(model.num_hidden_layers)],
  ["Hidden size", (model) => number(model.hidden_size)],
  ["KV heads", (model) => number(model.num_key_value_heads)],
  ["Head dimension", (model) => number(model.head_dim)],
  ["Vocabulary", (model) => number(model.vocab_size)],
  ["Context", (model) => number(model.max_position_embeddings)],
  ["Parameters", (model) => number(model.parameters)],
  ["On disk", (model) => bytes(model.bytes)],
  ["Weights", (model) => model.weights_sha256?.slice(0, 8) ?? "unknown"],
];

/** What a worker read from both folders; these facts alone decided that the pair is possible. */
export function ModelsCard({ pair }: { pair: Pair }) {
  return (
    <Card title="The two models" hint="As a worker read them.">
      <FigureTable
        caption="Facts of both models"
        head={[
          "",
          pair.control ? `${pair.source.id} (source)` : pair.source.id,
          pair.control ? `${pair.target.id} (target)` : pair.target.id,
        ]}
        rows={ROWS.map(([name, of]) => [name, of(pair.source), of(pair.target)])}
      />
    </Card>
  );
}
