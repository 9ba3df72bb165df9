import type { LayerMap, MapperManifest } from "./manifest";
import type { TensorEntry } from "./read-file";

const DTYPE = { float32: { name: "F32", bytes: 4 }, bfloat16: { name: "BF16", bytes: 2 } } as const;
const MOST = 4;

/** The tensors a file must hold follow from its manifest alone; every one that differs is a cause. */
export function checkShapes(manifest: MapperManifest, tensors: Map<string, TensorEntry>): string[] {
  const wanted = expectedShapes(manifest);
  if (typeof wanted === "string") return [wanted];
  const missing = [...wanted.keys()].filter((name) => !tensors.has(name));
  const odd = [...tensors.keys()].filter((name) => !wanted.has(name));
  const causes = [...listed("lacks the tensors", missing), ...listed("holds tensors of no map", odd)];
  const { name: dtype, bytes } = DTYPE[manifest.dtype];
  for (const [name, shape] of wanted) {
    const found = tensors.get(name);
    if (!found) continue;
    const size = shape.reduce((product, extent) => product * extent, bytes);
    const fits = found.shape.length === shape.length && shape.every((extent, i) => found.shape[i] === extent);
    if (!fits || found.dtype !== dtype || found.end - found.begin !== size)
      causes.push(`Tensor ${name} is ${found.dtype} [${found.shape}], not ${dtype} [${shape}].`);
  }
  return causes.length > MOST
    ? [...causes.slice(0, MOST), `And ${causes.length - MOST} more tensors.`]
    : causes;
}

function listed(what: string, names: string[]): string[] {
  if (names.length === 0) return [];
  return [`The file ${what} ${names.slice(0, MOST).join(", ")}${names.length > MOST ? " and more" : ""}.`];
}

function expectedShapes({
  k: asked,
  source,
  target,
  layers,
  constant_head,
}: MapperManifest): Map<string, number[]> | string {
  if (layers.length !== target.num_hidden_layers)
    return `It maps ${layers.length} layers for a target of ${target.num_hidden_layers}.`;
  const wide = target.num_key_value_heads * target.head_dim;
  const widest = Math.max(...layers.flatMap(({ k, v }) => [k.length, v.length]));
  if (widest !== asked) return `It says k ${asked}; its layers read ${widest} source layers at most.`;
  const shapes = new Map<string, number[]>();
  for (const [index, layer] of layers.entries()) {
    for (const part of ["k", "v"] as const) {
      const wrong = wrongChoice(layer, part, source, target.num_key_value_heads);
      if (wrong) return `Target layer ${index} ${wrong}.`;
      const read = layer[part].length * source.head_dim;
      const byHead = layer.heads?.[part] !== undefined;
      shapes.set(
        `${index}.w${part}`,
        byHead
          ? [target.num_key_value_heads, read, target.head_dim]
          : [read * source.num_key_value_heads, wide],
      );
      shapes.set(`${index}.b${part}`, [wide]);
    }
    if (layer.renormalised) shapes.set(`${index}.gamma`, [target.head_dim]);
    if (layer.ending === "k_norm") shapes.set(`${index}.k_norm`, [target.head_dim]);
  }
  if (constant_head.length > 0)
    for (const part of ["k", "v"])
      shapes.set(`head.${part}`, [
        target.num_hidden_layers,
        target.num_key_value_heads,
        constant_head.length,
        target.head_dim,
      ]);
  return shapes;
}

function wrongChoice(
  layer: LayerMap,
  part: "k" | "v",
  source: MapperManifest["source"],
  targetHeads: number,
): string | null {
  if (layer.renormalised && layer.ending !== undefined) return "ends its keys in two ways";
  if (Math.max(...layer[part]) >= source.num_hidden_layers)
    return `reads source layers [${layer[part]}] of ${source.num_hidden_layers}`;
  const rows = layer.heads?.[part];
  if (rows === undefined) return null;
  const fits =
    rows.length === layer[part].length &&
    rows.every((row) => row.length === targetHeads && Math.max(...row) < source.num_key_value_heads);
  return fits ? null : "reads source heads that are not there";
}
