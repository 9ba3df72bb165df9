"use client";

import type { LayerFit } from "@helm/contracts";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { share } from "../../ui/numbers";
import { type FitKey, type FitRow, fitFloor, fitRows, fitTicks, meanOf } from "./fit-rows";
import { type ChartLine, LineChart } from "./line-chart";

const LINES: (ChartLine<FitRow> & { key: FitKey })[] = [
  { key: "k", name: "keys, chosen layers", stroke: "var(--accent)" },
  { key: "kSingle", name: "keys, best single layer", stroke: "var(--accent)", dash: "4 4" },
  { key: "v", name: "values, chosen layers", stroke: "var(--busy)" },
  { key: "vSingle", name: "values, best single layer", stroke: "var(--busy)", dash: "4 4" },
];

/** How well each target layer is predicted on sequences that the fit did not see, and what more layers brought. */
export function FitCard({ fit }: { fit: LayerFit[] }) {
  const rows = fitRows(fit);
  const floor = fitFloor(rows);
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
        <LineChart
          rows={rows}
          lines={LINES}
          x={{ key: "layer", name: "target layer" }}
          floor={floor}
          ticks={fitTicks(floor)}
          figures={figuresOf}
        />
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

function figuresOf(row: FitRow) {
  const figures = LINES.map(({ key, name }): [string, string] => {
    const value = row[key];
    return [name, value === null ? "not known" : share(value ?? 0)];
  });
  return { title: `Layer ${row.layer}`, figures };
}
