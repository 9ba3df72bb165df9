import type { Assessment, CalibrationScores, CostPoint } from "@helm/contracts";
import type { Screen } from "../../terminal/screen";
import { formatBytes, table, wrap } from "../../terminal/style";

const ARM_ORDER = [
  "identity",
  "self_map",
  "plain_ridge",
  "zero_cache",
  "other_sequence",
  "no_rerotation",
  "shuffled_heads",
  "pilot_alone",
] as const;

export interface Reported {
  pair: string;
  assessment: Assessment;
  scores: CalibrationScores;
  cost: CostPoint[];
  artifact: { sha256: string; path?: string | null; bytes: number } | null;
  development: boolean;
}

/** The verdict in words and the numbers it rests on. */
export function reportLines(screen: Screen, reported: Reported): string[] {
  const { assessment, scores } = reported;
  const { style } = screen;
  const color = assessment.failure
    ? style.red
    : assessment.verdict === "CLEARED"
      ? style.green
      : style.yellow;
  const word = assessment.failure ? "FAILED" : (assessment.verdict ?? "");
  return [
    "",
    `${style.bold(reported.pair)}  ${color(style.bold(word))}${reported.development ? style.dim("  development: measured on a CPU, for development nodes only") : ""}`,
    "",
    ...wrap(assessment.sentence, screen.width, "  "),
    "",
    ...scoreTable(assessment).map((line, row) => `  ${row === 0 ? style.dim(line) : line}`),
    "",
    `  ${summary(assessment, scores)}`,
    ...costLines(reported.cost, style.dim),
    ...artifactLines(reported.artifact),
    "",
  ];
}

function scoreTable(assessment: Assessment): string[] {
  const { retention } = assessment;
  const row = (
    name: string,
    score: {
      retention: number;
      low: number;
      high: number;
      n: number;
      buckets: Assessment["retention"]["buckets"];
    },
  ) => [
    name,
    score.retention.toFixed(3),
    `${score.low.toFixed(3)} - ${score.high.toFixed(3)}`,
    score.buckets.first.toFixed(3),
    score.buckets.early.toFixed(3),
    score.buckets.late.toFixed(3),
    String(score.n),
  ];
  const rows = [row("mapper", { ...retention, retention: retention.value })];
  if (assessment.report) rows.push(row("  report split", assessment.report));
  for (const [domain, score] of Object.entries(assessment.by_domain)) rows.push(row(`  ${domain}`, score));
  for (const name of ARM_ORDER) {
    const arm = assessment.arms[name];
    if (arm) rows.push(row(name.replaceAll("_", " "), arm));
  }
  return table(
    ["retention", "value", "95 % interval", "first", "2-16", "17-64", "n"],
    rows,
    [1, 2, 3, 4, 5, 6],
  );
}

function summary(assessment: Assessment, scores: CalibrationScores): string {
  const parts = [
    assessment.prefix_gain === null ? null : `prefix gain ${assessment.prefix_gain.toFixed(3)}`,
    `KL ${scores.kl.toPrecision(3)} nats (p95 ${scores.kl_p95.toPrecision(3)})`,
    `KV cosine K ${scores.kv_cosine.k.toFixed(3)} V ${scores.kv_cosine.v.toFixed(3)}`,
  ];
  return parts.filter((part) => part !== null).join(", ");
}

function costLines(cost: CostPoint[], dim: (text: string) => string): string[] {
  const rows = cost.map((point) => [
    String(point.tokens),
    ...[point.pilot_prefill_ms, point.target_prefill_ms, point.transfer_ms].map((ms) =>
      ms === null ? "-" : ms.toFixed(1),
    ),
    point.left_out ?? "",
  ]);
  if (rows.length === 0) return [];
  const lines = table(
    ["tokens", "pilot prefill ms", "target prefill ms", "transfer ms", ""],
    rows,
    [0, 1, 2, 3],
  );
  return ["", ...lines.map((line, row) => `  ${row === 0 ? dim(line) : line}`)];
}

function artifactLines(artifact: Reported["artifact"]): string[] {
  if (!artifact) return ["", "  No mapper was kept."];
  const lines = ["", `  mapper ${artifact.sha256}, ${formatBytes(artifact.bytes)}`];
  return artifact.path ? [...lines, `  ${artifact.path}`] : lines;
}
