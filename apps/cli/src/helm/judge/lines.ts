import { JUDGE_FEATURES, JUDGE_LABELS, type JudgeTable, type JudgeThreshold } from "@helm/contracts";
import { table as columns } from "../../terminal/style";

const SHOWN = [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1];

/** What a table is and does, for people. */
export function tableLines(table: JudgeTable, sha256: string, threshold: JudgeThreshold | null): string[] {
  const { pair, origin, n, requests, positives, held_out, features } = table;
  return [
    `Judge table ${sha256.slice(0, 12)} (${table.version}) of ${pair.source} -> ${pair.target}, for ${seenOf(table)}.`,
    `The probability that "${JUDGE_LABELS[table.label]}", fitted ${table.fitted_at.slice(0, 16).replace("T", " ")} UTC on ${origin.kind} (${origin.name}).`,
    `${n} labelled answers, ${positives} of them with the label; ${requests} independent requests, by which the intervals go.`,
    `Held out by fold: area under ROC ${held_out.auc.toFixed(3)} (0.5 is chance), Brier score ${held_out.brier.toFixed(3)}.`,
    "",
    ...columns(
      ["feature", "mean", "spread", "weight"],
      features.map(({ name, mean, scale, weight }) => [
        JUDGE_FEATURES[name],
        mean.toFixed(3),
        scale.toFixed(3),
        weight.toFixed(3),
      ]),
      [1, 2, 3],
    ),
    "",
    ...curveLines(table),
    ...(threshold ? ["", threshold.sentence] : []),
  ];
}

export function seenOf({ streaming, window }: Pick<JudgeTable, "streaming" | "window">): string {
  return streaming === "window" ? `the first ${window} tokens` : "whole answers";
}

/** The curve at some rates, with a bar from the pilot alone to the best there is. */
export function curveLines({ curve }: Pick<JudgeTable, "curve">): string[] {
  const shown = SHOWN.flatMap((rate) => curve[Math.round(rate * (curve.length - 1))] ?? []);
  const least = shown[0]?.quality ?? 0;
  const span = Math.max(1e-9, Math.max(...shown.map(({ quality }) => quality)) - least);
  const rows = shown.map(({ rate, threshold, quality, low, high }) => [
    `${Math.round(100 * rate)} %`,
    threshold > 1 ? "never" : threshold.toFixed(3),
    `${quality.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`,
    "#".repeat(Math.round((20 * (quality - least)) / span)),
  ]);
  return columns(["escalated", "from", "quality, 95 %", "above the pilot alone"], rows, [0, 1]);
}
