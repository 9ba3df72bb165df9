import type { Estimate, LayerFit } from "@helm/contracts";
import { wrap } from "../../../terminal/style";
import { type Reported, signed, three } from "./reported";

const LABEL = 18;

/** What the retention is read with: gains, distances, and how well the layers fit. */
export function closenessLines({ assessment, scores, fit }: Reported, width: number): string[] {
  const { prefix_gain: gain, net_rescue: rescue, gold_gain: gold } = assessment;
  const { k, v, k_by_layer_head: keys, v_by_layer_head: values } = scores.kv_cosine;
  const rows: [string, string | null][] = [
    ["prefix gain", gain === null ? null : `${three(gain)} of what a blind cache misses`],
    ["net rescue", estimate(rescue, 100, "per 100 positions: recovered less lost, against the pilot")],
    ["gold gain", estimate(gold, 1, "nats a sequence more than the pilot gives the right answer")],
    ["KL", `mean ${scores.kl.toPrecision(3)} nats, p95 ${scores.kl_p95.toPrecision(3)}`],
    ["KV cosine", `K ${three(k)}, V ${three(v)}${lowest("K", keys)}${lowest("V", values)}`],
    ["attention output", scores.attention_cosine == null ? null : `cosine ${three(scores.attention_cosine)}`],
    ["held-out R2", r2(fit, scores.r2)],
  ];
  return rows.flatMap(([label, text]) =>
    text === null
      ? []
      : wrap(text, width - LABEL).map((line, at) => `${(at === 0 ? label : "").padEnd(LABEL)}${line}`),
  );
}

function estimate(found: Estimate | null, factor: number, unit: string): string | null {
  if (!found) return null;
  const text = (value: number) => signed(value * factor, 2);
  return `${text(found.value)} (${text(found.low)} to ${text(found.high)}) ${unit}`;
}

function lowest(part: string, rows: number[][]): string {
  let found: { value: number; layer: number; head: number } | null = null;
  for (const [layer, heads] of rows.entries())
    for (const [head, value] of heads.entries())
      if (!found || value < found.value) found = { value, layer, head };
  return found ? `; lowest ${part} ${three(found.value)} (layer ${found.layer}, head ${found.head})` : "";
}

/** Means over the layers; from the layers' own metrics, else from the scores of an older run. */
function r2(fit: LayerFit[], stored: Reported["scores"]["r2"]): string | null {
  const parts = (["k", "v"] as const).flatMap((part) => {
    const chosen = mean(fit.map((layer) => layer.fit[part].r2)) ?? number(stored, part, "chosen");
    const single =
      mean(fit.map((layer) => layer.fit[part].best_single_r2)) ?? number(stored, part, "best_single");
    if (chosen === null) return [];
    const before = single === null ? "" : ` (best single layer ${three(single)})`;
    return [`${part.toUpperCase()} ${three(chosen)}${before}`];
  });
  return parts.length > 0 ? parts.join(", ") : null;
}

function mean(values: (number | null | undefined)[]): number | null {
  const known = values.filter((value) => typeof value === "number");
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

function number(stored: Reported["scores"]["r2"], part: string, name: string): number | null {
  const found = (stored?.[part] as Record<string, unknown> | undefined)?.[name];
  return typeof found === "number" ? found : null;
}
