"use client";

import type { ReactElement } from "react";
import { CartesianGrid, Line, LineChart as Lines, ReferenceLine, Tooltip, XAxis, YAxis } from "recharts";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { LineKey } from "./cost-chart";

export type ChartLine<Row> = {
  key: keyof Row & string;
  name: string;
  stroke: string;
  dash?: string;
};

/** Dots for so few points that each is one to look at. */
const MOST_DOTS = 32;

/** Shares from `floor` to 1 over whole numbers (layers, turns), with what lies under the pointer in words. */
export function LineChart<Row extends object>({
  rows,
  lines,
  x,
  floor,
  ticks,
  gate,
  figures,
}: {
  rows: Row[];
  lines: ChartLine<Row>[];
  x: { key: keyof Row & string; name: string };
  floor: number;
  ticks?: number[];
  gate?: number;
  figures: (row: Row) => { title: string; figures: [name: string, value: string][] };
}) {
  const pointed = (given: unknown): ReactElement | null => {
    const { active, payload } = given as { active?: boolean; payload?: readonly { payload?: Row }[] };
    const row = payload?.[0]?.payload;
    return active && row ? <LineFigures {...figures(row)} /> : null;
  };
  return (
    <div className="flex flex-1 flex-col">
      <LineKey lines={lines} />
      <LineSpace className="min-h-56">
        <Lines data={rows} margin={lineMargin} accessibilityLayer={false}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey={(row: Row) => row[x.key]}
            type="number"
            domain={["dataMin", "dataMax"]}
            allowDecimals={false}
            tickCount={Math.min(rows.length, 12)}
            tick={axisText}
            stroke="var(--line)"
            label={axisName(x.name)}
          />
          <YAxis domain={[floor, 1]} ticks={ticks} tick={axisText} stroke="var(--line)" width={44} />
          {gate === undefined ? null : (
            <ReferenceLine
              y={gate}
              stroke="var(--ink)"
              label={{ value: `gate ${gate.toFixed(2)}`, position: "insideBottomLeft", ...axisText }}
            />
          )}
          <Tooltip content={pointed} cursor={{ stroke: "var(--line-strong)" }} isAnimationActive={false} />
          {lines.map((line) => (
            <Line
              key={line.key}
              dataKey={line.key}
              name={line.name}
              stroke={line.stroke}
              strokeWidth={2}
              strokeDasharray={line.dash}
              dot={rows.length > MOST_DOTS ? false : { r: 3, fill: line.stroke, strokeWidth: 0 }}
              isAnimationActive={false}
              connectNulls
            />
          ))}
        </Lines>
      </LineSpace>
    </div>
  );
}
