import type { Screen } from "../../../terminal/screen";
import type { Style } from "../../../terminal/style";
import { formatBytes, wrap } from "../../../terminal/style";
import { adviceLines } from "./advice";
import { closenessLines } from "./closeness";
import { costLines } from "./cost";
import { ladderLines } from "./ladder";
import type { Reported } from "./reported";
import { retentionLines } from "./retention";

export type { Reported } from "./reported";

/** The verdict in words, then what it rests on, what it would save and what to do about it. */
export function reportLines(screen: Screen, reported: Reported): string[] {
  const { style, width } = screen;
  const { assessment } = reported;
  const indented = (lines: string[]) => lines.map((line) => (line === "" ? "" : `  ${line}`));
  const section = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : ["", `  ${style.bold(title)}`, ...indented(lines)];
  const inner = width - 4;
  return [
    "",
    ...headLines(reported, style),
    "",
    ...indented(wrap(assessment.sentence, inner)),
    ...section("What to do", adviceLines(reported, inner)),
    ...section("Retention, taken apart", retentionLines(assessment, style, inner)),
    ...section("Every arm on the same probes", ladderLines(assessment, style, inner)),
    ...section("Read together", closenessLines(reported, inner)),
    ...section("What a transfer costs, medians in ms", costLines(reported.cost, style, inner)),
    ...section("Mapper", artifactLines(reported, inner)),
    "",
  ];
}

function headLines({ pair, made, assessment, development }: Reported, style: Style): string[] {
  const color = assessment.failure
    ? style.red
    : assessment.verdict === "CLEARED"
      ? style.green
      : style.yellow;
  const word = assessment.failure ? "FAILED" : (assessment.verdict ?? "");
  const lines = [
    `${style.bold(pair)}  ${color(style.bold(word.replaceAll("_", " ")))}`,
    style.dim(`method ${made.method}, k ${made.k}, corpus ${made.corpus}, device ${made.device}`),
  ];
  return development
    ? [...lines, style.yellow("Measured on a CPU: for development, eligible on development nodes only.")]
    : lines;
}

function artifactLines({ artifact }: Reported, width: number): string[] {
  if (!artifact) return wrap("None was kept: nothing is concluded from this run.", width);
  const size = artifact.bytes === undefined ? [] : [formatBytes(artifact.bytes)];
  const where = artifact.path ? [artifact.path] : [];
  return [`sha256 ${artifact.sha256}`, ...size, ...where];
}
