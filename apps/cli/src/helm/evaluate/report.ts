import type { AccuracyRetention, Evaluation, EvaluationTask } from "@helm/contracts";
import type { Screen } from "../../terminal/screen";
import { table, wrap } from "../../terminal/style";

/** Accuracies of the three models, and what the transfer leaves of the target's: never called retention. */
export function evaluationLines(screen: Screen, evaluation: Evaluation): string[] {
  const { style } = screen;
  const { pair, mean, warnings, development, limit } = evaluation;
  const marks = [
    development ? "development: measured on a CPU, for development nodes only" : null,
    limit === null ? null : `only the first ${limit} documents of each task`,
  ].filter((mark) => mark !== null);
  const head = [
    "task",
    "metric",
    "n",
    "pilot",
    "target",
    "transferred",
    "accuracy retention",
    "95 % interval",
    "",
  ];
  const rows = evaluation.tasks.map(cells);
  const lines = table(head, rows, [2, 3, 4, 5, 6]);
  return [
    "",
    `${style.bold(`${pair.source} -> ${pair.target}`)}${marks.length > 0 ? style.dim(`  ${marks.join("; ")}`) : ""}`,
    "",
    ...lines.map((line, row) => `  ${row === 0 ? style.dim(line) : line}`),
    "",
    mean
      ? `  mean accuracy retention ${share(mean.value)}, ${interval(mean)}, of ${mean.tasks} task${mean.tasks === 1 ? "" : "s"}`
      : "  no task gives an accuracy retention",
    ...warnings.flatMap(({ code, message }) => wrap(`${style.yellow(code)} ${message}`, screen.width, "  ")),
    `  mapper ${evaluation.mapper_sha256}`,
    "",
  ];
}

function cells(task: EvaluationTask): string[] {
  const kept = task.accuracy_retention;
  const number = task.higher_is_better ? share : (value: number) => value.toPrecision(4);
  return [
    `${task.group ? "  " : ""}${task.task}`,
    task.metric,
    String(task.n),
    number(task.pilot),
    number(task.target),
    number(task.transferred),
    kept ? share(kept.value) : "-",
    kept ? interval(kept) : "-",
    task.left_out ?? "",
  ];
}

function share(value: number): string {
  return value.toFixed(3);
}

function interval({ low, high }: AccuracyRetention): string {
  return `${share(low)} - ${share(high)}`;
}
