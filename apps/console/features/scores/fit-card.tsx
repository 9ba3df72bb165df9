"use client";

import type { LayerFit } from "@helm/contracts";
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
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
  const axis = { fill: "var(--ink-soft)", fontSize: 12 };
  return (
    <div className="relative min-h-56 w-full flex-1">
      {/* A height that the parent stretches is no definite one: without this the chart would have none. */}
      <div className="absolute inset-0">
        <ResponsiveContainer width="100%" height="100%" minWidth={0}>
          <LineChart
            data={rows}
            margin={{ top: 8, right: 14, bottom: 18, left: 0 }}
            accessibilityLayer={false}
          >
            <CartesianGrid stroke="var(--line)" vertical={false} />
            <XAxis
              dataKey="layer"
              type="number"
              domain={["dataMin", "dataMax"]}
              allowDecimals={false}
              tickCount={Math.min(rows.length, 12)}
              tick={axis}
              stroke="var(--line)"
              label={{ value: "target layer", position: "insideBottom", offset: -12, ...axis }}
            />
            <YAxis domain={[floor, 1]} ticks={fitTicks(floor)} tick={axis} stroke="var(--line)" width={44} />
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
                strokeWidth={2}
                strokeDasharray={line.dash}
                dot={rows.length > 32 ? false : { r: 3, fill: line.stroke, strokeWidth: 0 }}
                isAnimationActive={false}
                connectNulls
              />
            ))}
          </LineChart>
        </ResponsiveContainer>
      </div>
    </div>
  );
}

function Figures({ active, payload }: { active?: boolean; payload?: readonly { payload?: FitRow }[] }) {
  const row = payload?.[0]?.payload;
  if (!active || !row) return null;
  return (
    <div className="rounded-lg border border-line bg-raised px-3 py-2 text-[0.8125rem] shadow-float">
      <div className="font-semibold">Layer {row.layer}</div>
      {LINES.map((line) => (
        <div key={line.key} className="flex justify-between gap-4">
          <span className="text-ink-soft">{line.name}</span>
          <span className="tabular-nums">
            {row[line.key] === null ? "not known" : share(row[line.key] ?? 0)}
          </span>
        </div>
      ))}
    </div>
  );
}
