"use client";

import { Area, AreaChart, CartesianGrid, Tooltip, XAxis, YAxis } from "recharts";
import { QueryView } from "../../api/query-view";
import { ChartFrame } from "../../ui/chart-frame";
import { type Column, DataTable } from "../../ui/data-table";
import { axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { count } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import type { Zone } from "../preferences/preferences";
import { usePreferences } from "../preferences/provider";
import { Moment } from "../preferences/time";
import { absoluteTime } from "../preferences/time-words";
import { type Series, type TrafficRange, useSeries } from "./use-traffic";

type Point = Series["points"][number];
type Key = Exclude<keyof Point, "at">;

/** From the bottom up; colour and pattern both tell them apart, and the table names them. */
const WAYS: { key: Key; name: string; fill: string; pattern?: "lines" | "dots" }[] = [
  { key: "pilot", name: "pilot", fill: "var(--accent)" },
  { key: "transferred", name: "target after transfer", fill: "var(--good)", pattern: "lines" },
  { key: "prefilled", name: "target after prefill", fill: "var(--warn)", pattern: "dots" },
  { key: "direct", name: "target, pilot not asked", fill: "var(--busy)" },
  { key: "explicit", name: "named model", fill: "var(--line-strong)" },
  { key: "refused", name: "refused", fill: "var(--bad)", pattern: "lines" },
  { key: "failed", name: "failed", fill: "var(--bad)" },
  { key: "clientErrors", name: "client error", fill: "var(--ink-soft)", pattern: "dots" },
];

const RARE: ReadonlySet<Key> = new Set(["refused", "failed", "clientErrors"]);

const COLUMNS: Column<Point>[] = [
  { id: "at", name: "From", value: (row) => row.at, cell: (row) => <Moment at={row.at} /> },
  ...WAYS.map(({ key, name }): Column<Point> => ({ id: key, name, value: (row) => row[key] })),
];

export function AnsweredCard({ range }: { range: TrafficRange }) {
  const series = useSeries(range);
  return (
    <QueryView query={series} label="Loading who answered" rows={5}>
      {(data) => <Answered series={data} />}
    </QueryView>
  );
}

function Answered({ series }: { series: Series }) {
  const { zone } = usePreferences();
  const none = series.points.every((point) => WAYS.every(({ key }) => point[key] === 0));
  const shown = WAYS.filter(({ key }) => series.points.some((point) => point[key] > 0));
  const empty = <Empty title="No requests in this range">Choose a longer range, or send a request.</Empty>;
  if (none) return <ChartFrame title="Who answered" chart={empty} table={empty} />;
  return (
    <ChartFrame
      title="Who answered"
      hint={`Requests in each ${stepWords(series.stepS)}.`}
      chart={
        <div className="flex flex-1 flex-col">
          <Key ways={shown} />
          <LineSpace className="min-h-64">
            <AreaChart data={series.points} margin={lineMargin} accessibilityLayer={false}>
              <Patterns />
              <CartesianGrid stroke="var(--line)" vertical={false} />
              <XAxis
                dataKey={(point: Point) => point.at.getTime()}
                type="number"
                domain={["dataMin", "dataMax"]}
                tickFormatter={(at: number) => tick(new Date(at), series.stepS, zone)}
                tickCount={6}
                tick={axisText}
                stroke="var(--line)"
                minTickGap={48}
              />
              <YAxis
                allowDecimals={false}
                tick={axisText}
                stroke="var(--line)"
                width={56}
                tickFormatter={count}
              />
              <Tooltip
                cursor={{ stroke: "var(--line-strong)" }}
                isAnimationActive={false}
                content={({ active, payload }) => {
                  const point = payload?.[0]?.payload as Point | undefined;
                  if (!active || !point) return null;
                  return (
                    <LineFigures
                      title={absoluteTime(point.at, zone)}
                      figures={shown.map(({ key, name }) => [name, count(point[key])])}
                    />
                  );
                }}
              />
              {shown.map(({ key, name, fill, pattern }) => (
                <Area
                  key={key}
                  dataKey={key}
                  name={name}
                  stackId="all"
                  // A line of what is nought nearly everywhere would run along the top as if it were something.
                  stroke={RARE.has(key) ? "none" : fill}
                  strokeWidth={1.25}
                  fill={pattern ? `url(#${pattern}-${key})` : fill}
                  fillOpacity={pattern ? 1 : 0.45}
                  isAnimationActive={false}
                  type="linear"
                />
              ))}
            </AreaChart>
          </LineSpace>
        </div>
      }
      table={
        <DataTable
          id="answered"
          caption="Who answered, over time"
          what="points"
          rows={series.points}
          columns={COLUMNS}
          rowId={(row) => row.at.toISOString()}
          sort="-at"
          pageSize={20}
          csv="helm-traffic-answered"
          empty={empty}
        />
      }
    />
  );
}

/** No meaning by colour alone: what could be taken for its neighbour is hatched or dotted. */
function Patterns() {
  return (
    <defs>
      {WAYS.map(({ key, fill, pattern }) =>
        pattern ? (
          <pattern
            key={key}
            id={`${pattern}-${key}`}
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform={pattern === "lines" ? "rotate(45)" : undefined}
          >
            <rect width="6" height="6" fill={fill} fillOpacity="0.3" />
            {pattern === "lines" ? (
              <rect width="2" height="6" fill={fill} fillOpacity="0.8" />
            ) : (
              <circle cx="3" cy="3" r="1.25" fill={fill} />
            )}
          </pattern>
        ) : null,
      )}
    </defs>
  );
}

function Key({ ways }: { ways: typeof WAYS }) {
  return (
    <ul className="mb-1 flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem]">
      {ways.map(({ key, name, fill, pattern }) => (
        <li key={key} className="inline-flex items-center gap-1.5">
          <svg aria-hidden="true" width="14" height="14" className="shrink-0">
            <rect width="14" height="14" rx="3" fill={fill} fillOpacity={pattern ? 0.35 : 0.6} />
            {pattern === "lines" ? <path d="M0 10 10 0M4 14 14 4" stroke={fill} strokeWidth="2" /> : null}
            {pattern === "dots" ? <circle cx="7" cy="7" r="2.5" fill={fill} /> : null}
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

function stepWords(seconds: number): string {
  if (seconds < 3_600) return seconds === 60 ? "minute" : `${seconds / 60} minutes`;
  return seconds === 3_600 ? "hour" : `${seconds / 3_600} hours`;
}

function tick(at: Date, stepS: number, zone: Zone): string {
  const timeZone = zone === "utc" ? "UTC" : undefined;
  return stepS > 3_600
    ? at.toLocaleDateString("en", { timeZone, month: "short", day: "numeric" })
    : at.toLocaleTimeString("en", { timeZone, hour: "2-digit", minute: "2-digit", hour12: false });
}
