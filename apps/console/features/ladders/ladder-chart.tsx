"use client";

import { CartesianGrid, Line, LineChart, Tooltip, XAxis, YAxis } from "recharts";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { count, plural } from "../../ui/numbers";
import type { ChartRow } from "./ladder-words";

type Key = Exclude<keyof ChartRow, "clients">;
export type LadderLine = { key: Key; name: string; stroke: string; dash?: string; dots?: boolean };

/** Clients double from rung to rung, so their axis is logarithmic; what they got is drawn from zero. */
export function LadderChart({ rows, lines, unit }: { rows: ChartRow[]; lines: LadderLine[]; unit: string }) {
  return (
    <LineSpace className="min-h-64">
      <LineChart data={rows} margin={lineMargin} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="clients"
          type="number"
          scale="log"
          domain={["dataMin", "dataMax"]}
          ticks={rows.map(({ clients }) => clients)}
          tickFormatter={(value: number) => count(value)}
          tick={axisText}
          stroke="var(--line)"
          label={axisName("clients at once")}
        />
        <YAxis
          type="number"
          domain={[0, "auto"]}
          tickFormatter={(value: number) => (unit === "ms" ? `${count(value)} ms` : count(value))}
          tick={axisText}
          stroke="var(--line)"
          width={72}
        />
        <Tooltip
          cursor={{ stroke: "var(--line-strong)" }}
          isAnimationActive={false}
          content={({ active, payload }) => {
            const row = payload?.[0]?.payload as ChartRow | undefined;
            if (!active || !row) return null;
            const figures = lines
              .filter(({ key }) => row[key] !== null)
              .map(({ key, name }): [string, string] => [name, `${(row[key] ?? 0).toFixed(1)} ${unit}`]);
            return <LineFigures title={plural(row.clients, "client")} figures={figures} />;
          }}
        />
        {lines.map(({ key, name, stroke, dash, dots }) => (
          <Line
            key={key}
            dataKey={key}
            name={name}
            stroke={dots ? "none" : stroke}
            strokeWidth={2.25}
            strokeDasharray={dash}
            dot={{
              r: dots ? 5 : 3.5,
              fill: dots ? "var(--card)" : stroke,
              stroke,
              strokeWidth: dots ? 2 : 0,
            }}
            isAnimationActive={false}
            connectNulls
          />
        ))}
      </LineChart>
    </LineSpace>
  );
}
