"use client";

import { CartesianGrid, Line, LineChart, Tooltip, XAxis, YAxis } from "recharts";
import { QueryView } from "../../api/query-view";
import { ChartFrame } from "../../ui/chart-frame";
import { type Column, DataTable } from "../../ui/data-table";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { count, milliseconds } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { LineKey } from "../scores/cost-chart";
import { lengthWords } from "./traffic-words";
import { type Lengths, type TrafficRange, useLengths } from "./use-traffic";

type Row = Lengths["rows"][number];

const LINES = [
  { name: "carried across", stroke: "var(--accent)" },
  { name: "read by the target itself", stroke: "var(--warn)", dash: "5 4" },
];

const COLUMNS: Column<Row>[] = [
  {
    id: "tokens",
    name: "Prompt tokens",
    value: (row) => row.fromTokens,
    cell: (row) => lengthWords(row.fromTokens),
  },
  ...(["transferred", "prefilled"] as const).map(
    (side): Column<Row> => ({
      id: side,
      name: side === "transferred" ? "Carried across" : "Read anew",
      value: (row) => row[side]?.meanMs ?? null,
      cell: (row) =>
        row[side] ? `${milliseconds(row[side].meanMs)} (${count(row[side].requests)})` : <span>none</span>,
      csv: {
        [`${side}_ms`]: (row) => row[side]?.meanMs ?? null,
        [`${side}_requests`]: (row) => row[side]?.requests ?? 0,
      },
    }),
  ),
  {
    id: "saved",
    name: "Saved",
    value: (row) => row.saved?.ms ?? null,
    cell: (row) =>
      row.saved
        ? `${milliseconds(row.saved.ms)} (${row.saved.low.toFixed(1)} to ${row.saved.high.toFixed(1)})`
        : null,
    csv: {
      saved_ms: (row) => row.saved?.ms ?? null,
      saved_low_ms: (row) => row.saved?.low ?? null,
      saved_high_ms: (row) => row.saved?.high ?? null,
    },
  },
];

/** What a transfer saves until the first token, by the prompt's length. */
export function LengthsCard({ range }: { range: TrafficRange }) {
  const lengths = useLengths(range);
  return (
    <QueryView query={lengths} label="Loading first tokens by length" rows={4}>
      {({ rows, paired }) => {
        const none = (
          <Empty title="No escalated requests in this range">
            The time to the first token of escalated answers stands here by the length of their prompt.
          </Empty>
        );
        return (
          <ChartFrame
            title="First token by prompt length"
            hint="Escalated answers: carried across beside read anew. They are different requests; whole hours count."
            chart={rows.length === 0 ? none : <Chart rows={rows} />}
            table={
              <DataTable
                id="lengths"
                caption="First token of escalated answers by prompt length"
                what="lengths"
                rows={rows}
                columns={COLUMNS}
                rowId={(row) => String(row.fromTokens)}
                csv="helm-traffic-first-token"
                empty={none}
              />
            }
            note={
              paired.requests === 0
                ? "No request was answered both ways yet: the route's random share of escalated requests does that."
                : `${count(paired.requests)} answered both ways: ${milliseconds(paired.savedMsMedian)} saved in the median.`
            }
          />
        );
      }}
    </QueryView>
  );
}

function Chart({ rows }: { rows: Row[] }) {
  return (
    <div className="flex flex-1 flex-col">
      <LineKey lines={LINES} />
      <LineSpace className="min-h-56">
        <LineChart data={rows} margin={lineMargin} accessibilityLayer={false}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="fromTokens"
            type="number"
            scale="log"
            domain={["dataMin", "dataMax"]}
            ticks={rows.map(({ fromTokens }) => fromTokens)}
            tickFormatter={count}
            tick={axisText}
            stroke="var(--line)"
            label={axisName("prompt tokens, from")}
          />
          <YAxis
            domain={[0, "auto"]}
            tick={axisText}
            stroke="var(--line)"
            width={72}
            tickFormatter={(value: number) => `${count(Math.round(value))} ms`}
          />
          <Tooltip
            cursor={{ stroke: "var(--line-strong)" }}
            isAnimationActive={false}
            content={({ active, payload }) => {
              const row = payload?.[0]?.payload as Row | undefined;
              if (!active || !row) return null;
              return (
                <LineFigures
                  title={`${lengthWords(row.fromTokens)} tokens`}
                  figures={[
                    ["carried across", milliseconds(row.transferred?.meanMs)],
                    ["read anew", milliseconds(row.prefilled?.meanMs)],
                  ]}
                />
              );
            }}
          />
          {(["transferred", "prefilled"] as const).map((side, at) => (
            <Line
              key={side}
              dataKey={(row: Row) => row[side]?.meanMs ?? null}
              stroke={LINES[at]?.stroke}
              strokeDasharray={LINES[at]?.dash}
              strokeWidth={2.25}
              dot={{ r: 3.5, fill: LINES[at]?.stroke, strokeWidth: 0 }}
              isAnimationActive={false}
              connectNulls
            />
          ))}
        </LineChart>
      </LineSpace>
    </div>
  );
}
