"use client";

import { CartesianGrid, Line, LineChart, Tooltip, XAxis, YAxis } from "recharts";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { count, milliseconds } from "../../ui/numbers";
import type { CostKey, CostRow } from "./cost-points";

export type CostLine = { key: CostKey; name: string; stroke: string; dash?: string; thin?: boolean };

/** What stands against the target's own reading of the prompt once the pilot has answered. */
export const ANSWERED: CostLine[] = [
  { key: "target", name: "target's own prefill", stroke: "var(--ink-soft)" },
  { key: "transfer", name: "transfer", stroke: "var(--accent)" },
  { key: "whole", name: "pilot's prefill and transfer", stroke: "var(--accent)", dash: "5 4" },
];

export const PUBLISHED: CostLine[] = [
  {
    key: "publishedTarget",
    name: "published: prefill",
    stroke: "var(--line-strong)",
    dash: "2 3",
    thin: true,
  },
  { key: "publishedTransfer", name: "published: transfer", stroke: "var(--busy)", dash: "2 3", thin: true },
];

/** From the question to the target's first token. */
export const PATHS: CostLine[] = [
  { key: "direct", name: "target asked directly", stroke: "var(--ink-soft)" },
  { key: "withTransfer", name: "escalated with the transfer", stroke: "var(--accent)" },
  { key: "withoutTransfer", name: "escalated without", stroke: "var(--warn)", dash: "5 4" },
];

export function LineKey({ lines }: { lines: { name: string; stroke: string; dash?: string }[] }) {
  return (
    <ul className="mb-1 flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem]">
      {lines.map((line) => (
        <li key={line.name} className="inline-flex items-center gap-1.5">
          <svg aria-hidden="true" width="26" height="10" className="shrink-0">
            <line
              x1="0"
              x2="26"
              y1="5"
              y2="5"
              stroke={line.stroke}
              strokeWidth="2.5"
              strokeDasharray={line.dash}
            />
            <circle cx="13" cy="5" r="3" fill={line.stroke} />
          </svg>
          {line.name}
        </li>
      ))}
    </ul>
  );
}

/** Both axes logarithmic: lengths double, and so does most of what they cost. */
export function CostChart({ rows, lines }: { rows: CostRow[]; lines: CostLine[] }) {
  const values = rows
    .flatMap((row) => lines.map(({ key }) => row[key]))
    .filter((value): value is number => typeof value === "number" && value > 0);
  const ticks = decades(Math.min(...values), Math.max(...values));
  return (
    <LineSpace className="min-h-64">
      <LineChart data={rows} margin={lineMargin} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="tokens"
          type="number"
          scale="log"
          domain={["dataMin", "dataMax"]}
          ticks={rows.map(({ tokens }) => tokens)}
          tickFormatter={short}
          tick={axisText}
          stroke="var(--line)"
          label={axisName("prompt tokens")}
        />
        <YAxis
          type="number"
          scale="log"
          domain={[ticks[0] ?? 1, ticks.at(-1) ?? 1000]}
          ticks={ticks}
          tickFormatter={(value: number) => `${count(value)} ms`}
          tick={axisText}
          stroke="var(--line)"
          width={84}
        />
        <Tooltip
          content={<Figures lines={lines} />}
          cursor={{ stroke: "var(--line-strong)" }}
          isAnimationActive={false}
        />
        {lines.map((line) => (
          <Line
            key={line.key}
            dataKey={line.key}
            name={line.name}
            stroke={line.stroke}
            strokeWidth={line.thin ? 1.5 : 2.25}
            strokeDasharray={line.dash}
            dot={{ r: line.thin ? 2.5 : 3.5, fill: line.stroke, strokeWidth: 0 }}
            isAnimationActive={false}
            connectNulls
          />
        ))}
      </LineChart>
    </LineSpace>
  );
}

function Figures({
  active,
  payload,
  lines,
}: {
  active?: boolean;
  payload?: readonly { payload?: CostRow }[];
  lines: CostLine[];
}) {
  const row = payload?.[0]?.payload;
  if (!active || !row) return null;
  const figures = lines
    .filter((line) => row[line.key] != null)
    .map((line): [string, string] => [line.name, milliseconds(row[line.key])]);
  return <LineFigures title={`${count(row.tokens)} tokens`} figures={figures} />;
}

function decades(low: number, high: number): number[] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [1, 10, 100, 1000];
  const from = Math.floor(Math.log10(low));
  const to = Math.max(from + 1, Math.ceil(Math.log10(high)));
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

function short(tokens: number): string {
  return tokens >= 1024 && tokens % 1024 === 0 ? `${tokens / 1024}K` : String(tokens);
}
