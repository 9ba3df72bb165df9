"use client";

import { useQuery } from "@tanstack/react-query";
import { CartesianGrid, Line, LineChart, ReferenceLine, Tooltip, XAxis, YAxis } from "recharts";
import { useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { Command } from "../../ui/command";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { count, share } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";
import { LineKey } from "./cost-chart";

type Row = { turn: number; direction: "up" | "down"; new: number; all: number | null; n: number };
type Key = "new" | "all";

const LINES: { key: Key; name: string; stroke: string; dash?: string }[] = [
  { key: "new", name: "new rows mapped, as in serving", stroke: "var(--accent)" },
  { key: "all", name: "whole conversation mapped anew", stroke: "var(--ink-soft)", dash: "5 4" },
];

/** Drift: what a conversation keeps while pilot and target answer by turns. Drawn where it was measured and recorded. */
export function DriftCard({ pairId, gate, measure }: { pairId: string; gate: number; measure?: string }) {
  const trpc = useTRPC();
  const found = useQuery(trpc.drift.list.queryOptions({ pairId, limit: 1 }));
  const [latest] = found.data ?? [];
  if (!found.data) return null;
  if (!latest) {
    return (
      <Card
        title="Drift"
        hint="What a conversation keeps while pilot and target answer by turns and its cache goes with every turn. Not measured for this pair: it takes a mapper of each direction."
      >
        {measure ? <Command text={measure} /> : null}
      </Card>
    );
  }
  const { carries, pair } = latest.result;
  const rows = carries.new.map(
    ({ turn, direction, retention, n }, at): Row => ({
      turn,
      direction,
      new: retention,
      all: carries.all?.[at]?.retention ?? null,
      n,
    }),
  );
  const lines = carries.all ? LINES : LINES.slice(0, 1);
  const first = rows[0]?.new ?? 0;
  const last = rows.at(-1)?.new ?? 0;
  return (
    <ChartFrame
      title="Drift"
      hint={`Pilot and target answer by turns, and the conversation's cache goes with every turn: retention is ${share(first)} at the first turn and ${share(last)} at turn ${rows.length}.`}
      chart={
        <div className="flex flex-1 flex-col">
          <LineKey lines={lines} />
          <Chart rows={rows} lines={lines} gate={gate} />
        </div>
      }
      table={
        <FigureTable
          caption="Retention turn by turn"
          head={["Turn", "Cache goes from", "New rows mapped", "All mapped anew", "Conversations"]}
          rows={rows.map((row) => [
            row.turn,
            row.direction === "up" ? `${pair.source} to ${pair.target}` : `${pair.target} to ${pair.source}`,
            share(row.new),
            row.all === null ? "" : share(row.all),
            count(row.n),
          ])}
        />
      }
      note={
        <>
          Mapper {latest.mapper.sha256.slice(0, 8)} up, {latest.reverseMapper.sha256.slice(0, 8)} down;{" "}
          {count(rows[0]?.n ?? 0)} conversations on {latest.result.device}. Recorded by {latest.recordedBy},{" "}
          <TimeAgo at={latest.createdAt} />. No part of the gate's number.
        </>
      }
    />
  );
}

function Chart({ rows, lines, gate }: { rows: Row[]; lines: typeof LINES; gate: number }) {
  const lowest = Math.min(gate, ...rows.flatMap((row) => [row.new, row.all ?? 1]));
  const floor = Math.max(0, Math.floor(lowest * 10 - 1e-9) / 10);
  return (
    <LineSpace className="min-h-56">
      <LineChart data={rows} margin={lineMargin} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="turn"
          type="number"
          domain={["dataMin", "dataMax"]}
          allowDecimals={false}
          tickCount={Math.min(rows.length, 12)}
          tick={axisText}
          stroke="var(--line)"
          label={axisName("turn; odd ones go up, even ones down")}
        />
        <YAxis domain={[floor, 1]} tick={axisText} stroke="var(--line)" width={44} />
        <ReferenceLine
          y={gate}
          stroke="var(--ink)"
          label={{ value: `gate ${gate.toFixed(2)}`, position: "insideBottomLeft", ...axisText }}
        />
        <Tooltip content={<Figures />} cursor={{ stroke: "var(--line-strong)" }} isAnimationActive={false} />
        {lines.map((line) => (
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
    </LineSpace>
  );
}

function Figures({ active, payload }: { active?: boolean; payload?: readonly { payload?: Row }[] }) {
  const row = payload?.[0]?.payload;
  if (!active || !row) return null;
  const figures = LINES.flatMap(({ key, name }): [string, string][] => {
    const value = row[key];
    return value === null ? [] : [[name, share(value)]];
  });
  return <LineFigures title={`Turn ${row.turn}, ${row.direction}`} figures={figures} />;
}
