"use client";

import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { count, milliseconds } from "../../ui/numbers";
import type { CostRow } from "./cost-points";

const LINES = [
  { key: "target", name: "target's own prefill", stroke: "var(--ink-soft)", dash: undefined },
  { key: "transfer", name: "transfer", stroke: "var(--accent)", dash: undefined },
  { key: "whole", name: "pilot's prefill and transfer", stroke: "var(--accent)", dash: "5 4" },
] as const;

export function CostKey() {
  return (
    <ul className="mb-1 flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem]">
      {LINES.map((line) => (
        <li key={line.key} className="inline-flex items-center gap-1.5">
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
export function CostChart({ rows }: { rows: CostRow[] }) {
  const values = rows
    .flatMap(({ target, transfer, whole }) => [target, transfer, whole])
    .filter((value): value is number => value !== null && value > 0);
  const ticks = decades(Math.min(...values), Math.max(...values));
  return (
    <div className="h-64 min-h-64 w-full flex-1">
      <ResponsiveContainer width="100%" height="100%" minWidth={0}>
        <LineChart data={rows} margin={{ top: 8, right: 14, bottom: 18, left: 0 }} accessibilityLayer={false}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="tokens"
            type="number"
            scale="log"
            domain={["dataMin", "dataMax"]}
            ticks={rows.map(({ tokens }) => tokens)}
            tickFormatter={short}
            tick={{ fill: "var(--ink-soft)", fontSize: 12 }}
            stroke="var(--line)"
            label={{
              value: "prompt tokens",
              position: "insideBottom",
              offset: -12,
              fill: "var(--ink-soft)",
              fontSize: 12,
            }}
          />
          <YAxis
            type="number"
            scale="log"
            domain={[ticks[0] ?? 1, ticks.at(-1) ?? 1000]}
            ticks={ticks}
            tickFormatter={(value: number) => `${count(value)} ms`}
            tick={{ fill: "var(--ink-soft)", fontSize: 12 }}
            stroke="var(--line)"
            width={74}
          />
          <Tooltip
            content={<Figures />}
            cursor={{ stroke: "var(--line-strong)" }}
            isAnimationActive={false}
          />
          {LINES.map((line) => (
            <Line
              key={line.key}
              dataKey={line.key}
              name={line.name}
              stroke={line.stroke}
              strokeWidth={2.25}
              strokeDasharray={line.dash}
              dot={{ r: 3.5, fill: line.stroke, strokeWidth: 0 }}
              isAnimationActive={false}
              connectNulls
            />
          ))}
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
}

function Figures({ active, payload }: { active?: boolean; payload?: readonly { payload?: CostRow }[] }) {
  const row = payload?.[0]?.payload;
  if (!active || !row) return null;
  return (
    <div className="rounded-lg border border-line bg-raised px-3 py-2 text-[0.8125rem] shadow-float">
      <div className="font-semibold">{count(row.tokens)} tokens</div>
      {LINES.map((line) => (
        <div key={line.key} className="flex justify-between gap-4">
          <span className="text-ink-soft">{line.name}</span>
          <span className="tabular-nums">{milliseconds(row[line.key])}</span>
        </div>
      ))}
    </div>
  );
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
