import type { ModelFacts } from "@helm/contracts";
import { facts, runEvents } from "./worker";

/** Small enough that a whole mapper is some kilobytes. */
const SMALL = { num_hidden_layers: 1, num_attention_heads: 1, num_key_value_heads: 1, hidden_size: 128 };
export const TINY = { small: facts("small", SMALL), large: facts("large", SMALL) };

export interface FileChanges {
  share?: number;
  manifest?: (manifest: Record<string, unknown>) => void;
  tensors?: (tensors: Record<string, number[]>) => void;
}

/** A mapper's file as a local calibration writes it, for the pair small -> large, around counts of a known shape. */
export function mapperFile({ share = 1, manifest: edit, tensors: reshape }: FileChanges = {}): Buffer {
  const manifest = manifestOf(TINY.small, TINY.large, share);
  edit?.(manifest);
  const shapes: Record<string, number[]> = {
    "0.wk": [128, 128],
    "0.bk": [128],
    "0.wv": [128, 128],
    "0.bv": [128],
  };
  reshape?.(shapes);
  const header: Record<string, unknown> = { __metadata__: { manifest: JSON.stringify(manifest) } };
  let at = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const bytes = shape.reduce((product, extent) => product * extent, 4);
    header[name] = { dtype: "F32", shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.alloc(at)]);
}

function manifestOf(source: ModelFacts, target: ModelFacts, share: number): Record<string, unknown> {
  const counts: Record<string, unknown[]> = {};
  const events = runEvents(Buffer.alloc(0), { share });
  for (const event of events)
    if (event.type === "counts")
      for (const row of event.sequences) {
        const name = row.split === "report" ? "report" : event.arm;
        counts[name] = [...(counts[name] ?? []), row];
      }
  const result = events.find((event) => event.type === "result");
  return {
    schema: 1,
    method: "ridge",
    k: 1,
    dtype: "float32",
    device: "cpu",
    development: true,
    source,
    target,
    layers: [{ k: [0], v: [0], renormalised: false }],
    constant_head: [],
    corpus: { name: "bundled" },
    versions: { torch: "2.13.0" },
    scores: result?.scores,
    cost: [],
    fit: [{ k: { layers: [0], r2: 0.9 }, v: { layers: [0], r2: 0.9 } }],
    counts,
  };
}
