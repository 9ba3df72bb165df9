import type { ModelFacts } from "@helm/contracts";

type Shape = { layers: number; hidden: number; kvHeads: number };
export type Published = {
  /** The pair that was measured, and where. */
  pair: string;
  where: string;
  points: { tokens: number; target: number; transfer: number }[];
  retention: number | null;
};

const TABLES: (Published & { source: Shape; target: Shape })[] = [
  {
    pair: "Qwen3-0.6B to Qwen3-1.7B",
    where: "MI210, plain ridge, k 4",
    source: { layers: 28, hidden: 1024, kvHeads: 8 },
    target: { layers: 28, hidden: 2048, kvHeads: 8 },
    points: [
      { tokens: 512, target: 36, transfer: 11 },
      { tokens: 2048, target: 103, transfer: 26 },
      { tokens: 8192, target: 414, transfer: 91 },
      { tokens: 16384, target: 968, transfer: 179 },
    ],
    retention: 0.77,
  },
  {
    pair: "Qwen3-14B to Qwen3-32B",
    where: "8 x H100, k 8, the move to another process not counted",
    source: { layers: 40, hidden: 5120, kvHeads: 8 },
    target: { layers: 64, hidden: 5120, kvHeads: 8 },
    points: [
      { tokens: 64, target: 61.7, transfer: 14.0 },
      { tokens: 8192, target: 1154.8, transfer: 67.8 },
      { tokens: 32768, target: 6975.3, transfer: 277.6 },
    ],
    retention: null,
  },
];

/** Published figures of a pair of these shapes (arXiv:2608.03893); null where none were published. */
export function publishedFor(source: ModelFacts, target: ModelFacts): Published | null {
  return TABLES.find((table) => fits(table.source, source) && fits(table.target, target)) ?? null;
}

function fits(shape: Shape, model: ModelFacts): boolean {
  return (
    model.num_hidden_layers === shape.layers &&
    model.hidden_size === shape.hidden &&
    model.num_key_value_heads === shape.kvHeads
  );
}
