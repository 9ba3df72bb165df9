import {
  correctPerSecond,
  type Ladder,
  type LadderRung,
  type TargetOutcome,
  targetOutcomes,
} from "@helm/contracts";
import type { Screen } from "../../terminal/screen";
import { formatBytes, table, wrap } from "../../terminal/style";

const HEAD = [
  "clients",
  "requests",
  "correct",
  "refused",
  "failed",
  "corrupted",
  "correct/s",
  "first token p50 / p95",
  "between tokens",
  "memory",
];

/** Rungs, what broke, and the targets beside what was reached. */
export function ladderLines(screen: Screen, ladder: Ladder): string[] {
  const { style } = screen;
  const rows = table(HEAD, ladder.rungs.map(cells), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const marks = [
    `asked for ${ladder.model}${ladder.served_by && ladder.served_by !== ladder.model ? `, answered by ${ladder.served_by}` : ""}`,
    ladder.engine,
    ladder.development ? "development: on a CPU" : null,
  ].filter(Boolean);
  return [
    "",
    `${style.bold(ladder.gateway)}  ${style.dim(marks.join("; "))}`,
    "",
    ...rows.map((line, row) => `  ${row === 0 ? style.dim(line) : line}`),
    "",
    ...ladder.rungs.flatMap((rung) =>
      rung.broke.flatMap(({ rule, message }) =>
        wrap(`${style.yellow(rule)} at ${clientsOf(rung)}: ${message}`, screen.width, "  "),
      ),
    ),
    ...cpuNote(ladder),
    ...ladder.rungs.flatMap((rung) => gapLine(rung)),
    ...targetOutcomes(ladder).map((outcome) => targetLine(screen, outcome)),
    ladder.stopped
      ? `  Stopped at ${clientsOf(ladder.stopped)}: ${ladder.stopped.rule}.`
      : `  Every rung stood, to ${ladder.rungs.at(-1)?.clients} clients.`,
    "",
  ];
}

function cpuNote({ development, rungs }: Ladder): string[] {
  const slow = rungs.some(({ broke }) => broke.some(({ rule }) => rule === "INTER_TOKEN_LATENCY"));
  return development && slow
    ? ["  On a CPU tokens come slower by nature: INTER_TOKEN_LATENCY is reported and ends nothing."]
    : [];
}

function clientsOf({ clients }: { clients: number }): string {
  return clients === 1 ? "1 client" : `${clients} clients`;
}

export function rungLine(rung: LadderRung): string {
  const parts = [
    `${clientsOf(rung)}:`,
    `${rung.correct} of ${rung.requests} correct,`,
    `${correctPerSecond(rung).toFixed(1)}/s`,
  ];
  if (rung.refused > 0) parts.push(`, ${rung.refused} refused`);
  if (rung.failed > 0) parts.push(`, ${rung.failed} failed`);
  if (rung.corrupted > 0) parts.push(`, ${rung.corrupted} corrupted`);
  return parts.join(" ").replaceAll(" ,", ",");
}

function cells(rung: LadderRung): string[] {
  const ms = (value: number | undefined) => (value === undefined ? "-" : `${value.toFixed(0)} ms`);
  return [
    String(rung.clients),
    String(rung.requests),
    String(rung.correct),
    String(rung.refused),
    String(rung.failed),
    String(rung.corrupted),
    correctPerSecond(rung).toFixed(1),
    `${ms(rung.first_token_ms?.p50)} / ${ms(rung.first_token_ms?.p95)}`,
    rung.itl_ms ? `${rung.itl_ms.p50.toFixed(1)} ms` : "-",
    rung.memory_bytes === null ? "-" : formatBytes(rung.memory_bytes),
  ];
}

function targetLine({ style }: Screen, { target, reached, met }: TargetOutcome): string {
  const asked = `  target ${target.requests_per_second}/s at ${target.clients} clients:`;
  if (reached === null) return `${asked} ${style.yellow("not reached")}`;
  return `${asked} ${met ? style.green("met") : style.yellow("not met")}, ${reached.toFixed(1)}/s`;
}

function gapLine({ clients, refused, shortfall_bytes: gap }: LadderRung): string[] {
  if (gap === null) return [];
  return [
    `  ${refused} refused at ${clientsOf({ clients })}: up to ${formatBytes(gap)} of cache were missing.`,
  ];
}
