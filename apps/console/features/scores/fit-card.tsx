"use client";

import type { LayerFit } from "@helm/contracts";
import { CartesianGrid, Line, LineChart, Tooltip, XAxis, YAxis } from "recharts";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { share } from "../../ui/numbers";
import { LineKey } from "./cost-chart";
import { type FitKey, type FitRow, fitFloor, fitRows, fitTicks, meanOf } from "./fit-rows";

const LINES: { key: FitKey; name: string; stroke: string; dash?: string }[] = [
  { key: "k", name: "keys, chosen layers", stroke: "var(--accent)" },
  { key: "kSingle", name: "keys, best single layer", stroke: "var(--accent)", dash: "4 4" },
  { key: "v", name: "values, chosen layers", stroke: "var(--busy)" },
  { key: "vSingle", name: "values, best single layer", stroke: "var(--busy)", dash: "4 4" },
];

/** How well each target layer is predicted on sequences that the fit did not see, and what more layers brought. */
export function FitCard({ fit }: { fit: LayerFit[] }) {
  const rows = fitRows(fit);
  const figure = (value: number | null) => (value === null ? "not known" : share(value));
  return (
    <ChartFrame
      title="How well the layers fit"
      hint={
        <>
          Held-out R2 by target layer: keys {figure(meanOf(rows, "k"))} on average (best single layer{" "}
          {figure(meanOf(rows, "kSingle"))}), values {figure(meanOf(rows, "v"))} (
          {figure(meanOf(rows, "vSingle"))}).
        </>
      }
      chart={
        <div className="flex flex-1 flex-col">
          <LineKey lines={LINES} />
          <FitChart rows={rows} />
        </div>
      }
      table={
        <FigureTable
          caption="Held-out R2 by target layer"
          head={[
            "Layer",
            "K chosen",
            "K single",
            "K layers",
            "K lambda",
            "V chosen",
            "V single",
            "V layers",
            "V lambda",
          ]}
          rows={fit.map(({ layer, fit: { k, v } }) => [
            layer,
            ...[k, v].flatMap((side) => [
              side.r2 == null ? "" : share(side.r2),
              side.best_single_r2 == null ? "" : share(side.best_single_r2),
              side.layers?.join(", ") ?? "",
              side.lambda == null ? "" : side.lambda.toExponential(0),
            ]),
          ])}
        />
      }
      note="R2 says how the fit went. It does not tell whether the answers stay the same: retention does."
    />
  );
}

function FitChart({ rows }: { rows: FitRow[] }) {
  const floor = fitFloor(rows);
  return (
    <LineSpace className="min-h-56">
      <LineChart data={rows} margin={lineMargin} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="layer"
          type="number"
          domain={["dataMin", "dataMax"]}
          allowDecimals={false}
          tickCount={Math.min(rows.length, 12)}
          tick={axisText}
          stroke="var(--line)"
          label={axisName("target layer")}
        />
        <YAxis domain={[floor, 1]} ticks={fitTicks(floor)} tick={axisText} stroke="var(--line)" width={44} />
        <Tooltip content={<Figures />} cursor={{ stroke: "var(--line-strong)" }} isAnimationActive={false} />
        {LINES.map((line) => (
          <Line
            key={line.key}
            dataKey={line.key}
            name={line.name}
            stroke={line.stroke}
            strokeWidth={2}
            strokeDasharray={line.dash}
            dot={rows.length > 32 ? false : { r: 3, fill: line.stroke, strokeWidth: 0 }}
            isAnimationActive={false}
            connectNulls
          />
        ))}
      </LineChart>
    </LineSpace>
  );
}

function Figures({ active, payload }: { active?: boolean; payload?: readonly { payload?: FitRow }[] }) {
  const row = payload?.[0]?.payload;
  if (!active || !row) return null;
  const figures = LINES.map(({ key, name }): [string, string] => {
    const value = row[key];
    return [name, value === null ? "not known" : share(value ?? 0)];
  });
  return <LineFigures title={`Layer ${row.layer}`} figures={figures} />;
}
