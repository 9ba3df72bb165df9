import { type Interval, quantile } from "./figures";
import { GROWING } from "./load";
import type { Machine } from "./machine";
import type { QueryMeasure } from "./measure-queries";
import type { Measured } from "./measured";
import { MAY_READ_WHOLE } from "./read-whole";

const DELAY_AIM_MS = 300;
const QUERY_AIM_MS = 100;
const MEMORY_AIM_MIB = 600;

interface Aim {
  aim: string;
  figure: string;
  met: boolean;
}

/** The aims with their figures and tables on standard output, and the page for docs/results. */
export function report(measured: Measured): { text: string; page: string; met: boolean } {
  const aims = aimsOf(measured);
  const width = Math.max(...aims.map(({ aim }) => aim.length));
  const text = aims
    .map(({ aim, figure, met }) => `${met ? "met    " : "NOT MET"}  ${aim.padEnd(width)}  ${figure}\n`)
    .join("");
  const { consoles, queries } = measured;
  const parts = [...(consoles ? consolesPart(consoles) : []), ...(queries ? queriesPart(queries) : [])];
  const tables = parts.filter((line) => line.startsWith("|")).map((line) => `${line}\n`);
  return {
    text: [text, ...tables].join(""),
    page: pageOf(measured, aims),
    met: aims.every(({ met }) => met),
  };
}

function aimsOf({ consoles, queries, workers, memory }: Measured): Aim[] {
  const aims: Aim[] = [];
  if (consoles) {
    aims.push({
      aim: `${consoles.consoles} consoles on one run: none lost`,
      figure: `${consoles.lost} of ${consoles.events * consoles.consoles} lines lost`,
      met: consoles.lost === 0,
    });
    aims.push({
      aim: "none out of order",
      figure: `${consoles.disorder} out of order, ${consoles.gaps} gaps`,
      met: consoles.disorder === 0,
    });
    aims.push({
      aim: `delay p99 under ${DELAY_AIM_MS} ms`,
      figure: `${interval(consoles.helm.p99)} ms (bare Socket.IO ${interval(consoles.echo.p99)} ms)`,
      met: consoles.helm.p99.value < DELAY_AIM_MS,
    });
    // The throttle keeps 100 ms between two sends; arrival is counted here, and may bunch by one.
    aims.push({
      aim: "at most 10 updates a second for a run",
      figure: `${consoles.busiestSecond} in the busiest second of any console`,
      met: consoles.busiestSecond <= 11,
    });
  }
  if (queries) {
    const slow = slowestFirst(queries.measured)[0];
    const slower = queries.measured.filter(({ times }) => quantile(times, 0.95) >= QUERY_AIM_MS);
    aims.push({
      aim: `every page's query p95 under ${QUERY_AIM_MS} ms`,
      figure: `${queries.measured.length - slower.length} of ${queries.measured.length}; slowest ${slow?.path} ${ms(quantile(slow?.times ?? [], 0.95))} ms`,
      met: slower.length === 0,
    });
    const read = queries.measured.flatMap(readWhole);
    const whole = read.filter((one) => !(one in MAY_READ_WHOLE));
    const meant = read.filter((one) => one in MAY_READ_WHOLE).map((one) => `${one}: ${MAY_READ_WHOLE[one]}`);
    aims.push({
      aim: "no table that grows is read from end to end, but where it is meant",
      figure: [whole.length === 0 ? "none is" : whole.join("; "), ...meant].join("; meant: "),
      met: whole.length === 0,
    });
    aims.push({
      aim: "every query that the console calls is here",
      figure:
        queries.unknown.length === 0 ? `${queries.measured.length} queries` : queries.unknown.join(", "),
      met: queries.unknown.length === 0,
    });
  }
  if (workers)
    aims.push({
      aim: `${workers.workers} workers claim, none starved`,
      figure: `${workers.claims} claims in ${workers.seconds} s; each ${workers.least} to ${workers.most}, median ${workers.median}; ${workers.twice} claimed twice; ${workers.busy} answers of 503`,
      met: workers.least > 0 && workers.least >= workers.median / 2 && workers.twice === 0,
    });
  if (memory) {
    const sum = memory.controlPlaneMiB + memory.consoleMiB;
    aims.push({
      aim: `control plane and console at rest under ${MEMORY_AIM_MIB} MiB`,
      figure: `${sum.toFixed(0)} MiB (${memory.controlPlaneMiB.toFixed(0)} + ${memory.consoleMiB.toFixed(0)}, ${memory.kind})`,
      met: sum < MEMORY_AIM_MIB,
    });
  }
  return aims;
}

function pageOf(measured: Measured, aims: Aim[]): string {
  const { before, after, consoles, queries, workers } = measured;
  return [
    "# Control plane",
    "",
    "Made by `npm run bench:control -- --write`. Everything ran on loopback: a PostgreSQL as `npm start` brings it up, two control",
    "planes on it, and for the memory the built console.",
    "",
    `Machine: ${machine(before)}. ${busy(before, after)}`,
    "",
    "| aim | figure | |",
    "| --- | --- | --- |",
    ...aims.map(({ aim, figure, met }) => `| ${aim} | ${figure} | ${met ? "met" : "**not met**"} |`),
    "",
    ...(consoles ? consolesPart(consoles) : []),
    ...(queries ? queriesPart(queries) : []),
    ...(workers
      ? [
          "## Workers",
          "",
          `${workers.workers} workers took runs for ${workers.seconds} s as fast as they could, from both control planes by turns, and gave each back as`,
          `failed at once; the queue never ran dry. A claim took ${ms(workers.claimMs.p50)} ms (median), ${ms(workers.claimMs.p95)} ms (p95). Met means: the`,
          "one with the fewest had at least half of the median, and no attempt was given out twice. After a 503 a worker asks again.",
          "",
        ]
      : []),
    ...(measured.memory
      ? [
          "## Memory",
          "",
          "Control plane and console as `npm start` runs them, with a database of their own, after their pages were opened once and 20 s",
          "of rest. Worker, node, engine and PostgreSQL are not in the sum.",
          "",
        ]
      : []),
  ].join("\n");
}

function consolesPart(found: NonNullable<Measured["consoles"]>): string[] {
  return [
    "## Consoles",
    "",
    `Half of the ${found.consoles} consoles were at each control plane, the worker at the second one. It said ${found.eventsPerSecond} lines a second, ten times`,
    "the mean of the recorded run of the bundled pair. A line's delay runs from before the worker sends it, through the commit of its row,",
    "to its arrival in a console's socket. The same lines went through a bare Socket.IO server (a room, no database) to as many sockets, in",
    `segments of 4 s by turns, ${found.segments} of each. In brackets: 95 % intervals, by drawing whole segments.`,
    "",
    "| | p50 ms | p99 ms | longest ms |",
    "| --- | --- | --- | --- |",
    `| control plane | ${interval(found.helm.p50)} | ${interval(found.helm.p99)} | ${ms(found.helm.most)} |`,
    `| bare Socket.IO | ${interval(found.echo.p50)} | ${interval(found.echo.p99)} | ${ms(found.echo.most)} |`,
    "",
    "A gap is an update that arrived after a later one had; the page then reads the rows.",
    "",
  ];
}

function queriesPart(found: NonNullable<Measured["queries"]>): string[] {
  const rows = Object.entries(found.rows)
    .map(([table, n]) => `${n.toLocaleString("en")} ${table}`)
    .join(", ");
  return [
    "## Queries",
    "",
    `Rows: ${rows}; filled in SQL in ${found.loadSeconds.toFixed(0)} s by copying one run that went through the worker's protocol. Time is that of the whole`,
    "procedure, its inputs by turns; plans are of every statement it sends (`EXPLAIN (ANALYZE, BUFFERS)`), for the input with the most blocks.",
    "",
    "| procedure | p50 ms | p95 ms | statements | slowest statement ms | blocks | how the tables that grow are read |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...slowestFirst(found.measured).map(queryRow),
    "",
  ];
}

function queryRow({ path, times, plans, errors }: QueryMeasure): string {
  const slowest = Math.max(0, ...plans.map((plan) => plan.ms));
  const blocks = Math.max(0, ...plans.map((plan) => plan.blocks));
  const texts = new Set(plans.map((plan) => plan.text)).size;
  const scans = new Set(plans.flatMap((plan) => plan.scans));
  const shown = [...scans].filter((scan) => GROWING.some((table) => scan.includes(` ${table}`)));
  const how = errors.length > 0 ? `refused: ${errors[0]}` : shown.join(", ") || "none";
  return `| ${path} | ${ms(quantile(times, 0.5))} | ${ms(quantile(times, 0.95))} | ${texts} | ${ms(slowest)} | ${blocks} | ${how} |`;
}

function readWhole({ path, plans }: QueryMeasure): string[] {
  const tables = new Set(plans.flatMap((plan) => plan.sequential));
  return GROWING.filter((table) => tables.has(table)).map((table) => `${path} ${table}`);
}

function slowestFirst(measured: QueryMeasure[]): QueryMeasure[] {
  return [...measured].sort((a, b) => quantile(b.times, 0.95) - quantile(a.times, 0.95));
}

function machine({ cores, model, memoryGiB }: Machine): string {
  return `${cores} cores (${model}), ${memoryGiB.toFixed(0)} GiB`;
}

function busy(before: Machine, after: Machine): string {
  const loads = `load ${before.load.toFixed(1)} before and ${after.load.toFixed(1)} after`;
  return before.load > before.cores / 2
    ? `It was busy with other things (${loads}): times are longer than they would be alone.`
    : `It was alone (${loads}).`;
}

function interval({ value, low, high }: Interval): string {
  return `${ms(value)} [${ms(low)}, ${ms(high)}]`;
}

function ms(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
