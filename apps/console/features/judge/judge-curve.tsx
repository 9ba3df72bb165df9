"use client";

import { JUDGE_LABELS, type JudgeLabel } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { type Outputs, useTRPC } from "../../api/trpc";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count, percent, plural, share } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";
import { type ChartLine, LineChart } from "../scores/line-chart";
import { type CurveRow, curveRows, floorOf, ticksFrom } from "./curve-rows";
import { qualityOf, seenOf } from "./judge-words";

type Table = Outputs["judge"]["get"];

const LINES: ChartLine<CurveRow>[] = [
  { key: "judge", name: "by the judge, held out", stroke: "var(--accent)" },
  { key: "low", name: "its lower bound", stroke: "var(--accent)", dash: "2 3" },
  { key: "random", name: "as many at random", stroke: "var(--ink-soft)", dash: "5 4" },
  { key: "oracle", name: "oracle", stroke: "var(--warn)", dash: "6 3" },
];
/** The table behind the chart: every fifth point says as much. */
const EVERY = 5;

/** What escalating by a table brings, share by share, beside escalating at random and the oracle. */
export function JudgeCurve({ id }: { id: string }) {
  const trpc = useTRPC();
  const found = useQuery(trpc.judge.get.queryOptions({ id }));
  return (
    <QueryView query={found} label="Loading the judge's curve" rows={5}>
      {(table) => <Curve found={table} />}
    </QueryView>
  );
}

function Curve({ found }: { found: Table }) {
  const { table } = found;
  const rows = curveRows(table);
  const fifth = rows[20];
  return (
    <ChartFrame
      title={`Quality against escalation, ${seenOf(table.streaming, table.window)}`}
      hint={
        <>
          Quality is the share of requests {qualityOf(table.label)}. The pilot alone gives{" "}
          {share(rows[0]?.judge ?? 0)}
          {fifth
            ? `, and a fifth escalated ${share(fifth.judge)}, where chance gives ${share(fifth.random)}.`
            : "."}
        </>
      }
      chart={
        <LineChart
          rows={rows}
          lines={LINES}
          x={{ key: "percent", name: "escalated, % of requests" }}
          floor={floorOf(rows)}
          ticks={ticksFrom(floorOf(rows))}
          figures={figuresOf}
        />
      }
      table={
        <FigureTable
          caption="Quality by share of requests escalated"
          head={["Escalated", "From probability", "Quality", "95 % interval", "At random", "Oracle"]}
          rows={rows
            .filter((_, at) => at % EVERY === 0)
            .map((row) => [
              `${row.percent} %`,
              row.threshold > 1 ? "never" : row.threshold.toFixed(3),
              share(row.judge),
              `${share(row.low)} to ${share(row.high)}`,
              share(row.random),
              share(row.oracle),
            ])}
        />
      }
      note={
        <>
          The probability that “{JUDGE_LABELS[table.label]}”; area under ROC {share(table.held_out.auc)} on
          answers held out by fold. {count(table.n)} labelled answers of {count(table.requests)} independent
          requests
          {table.requests < 500 ? ": fewer than 500, so nothing is guaranteed" : ""}. From{" "}
          {table.origin.kind === "probes"
            ? "a calibration's probes"
            : `${table.origin.kind} (${table.origin.name})`}
          , kept by {found.createdBy} <TimeAgo at={found.createdAt} />.
          {table.device_ms
            ? ` Device time of a request: pilot ${table.device_ms.pilot.toFixed(1)} ms, target ${table.device_ms.target.toFixed(1)} ms.`
            : null}{" "}
          <LiveCheck id={found.id} label={table.label} />
        </>
      }
    />
  );
}

function figuresOf(row: CurveRow) {
  const figures: [string, string][] = [
    ["by the judge", `${share(row.judge)} (${share(row.low)} to ${share(row.high)})`],
    ["at random", share(row.random)],
    ["oracle", share(row.oracle)],
    ["escalates from", row.threshold > 1 ? "never" : row.threshold.toFixed(3)],
  ];
  return { title: `${percent(row.percent / 100)} escalated`, figures };
}

/** Whether the probability comes true: of kept requests that the target answered too, by chance. */
function LiveCheck({ id, label }: { id: string; label: JudgeLabel }) {
  const trpc = useTRPC();
  const check = useQuery(trpc.judge.check.queryOptions({ id })).data;
  if (check === undefined) return null;
  if (check === null)
    return <>In traffic it was not checked in the last 7 days: no kept request was drawn. </>;
  const { requests, predicted, observed } = check;
  return (
    <>
      In the traffic of the last 7 days “{JUDGE_LABELS[label]}” came true of {percent(observed.value)} of kept
      requests ({percent(observed.low)} to {percent(observed.high)}, {plural(requests, "request")} drawn); the
      judge said {percent(predicted)}.{" "}
    </>
  );
}
