"use client";

import type { CalibrationScores } from "@helm/contracts";
import { useState } from "react";
import { Button } from "../../ui/button";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { share } from "../../ui/numbers";
import { heatColour, heatInk } from "./heat-ink";
import { heatFloor, heatOf } from "./heat-scale";

type Which = "k" | "v";
/** Up to so many layers a cell has room for its figure. */
const NAMED = 12;
const NAME: Record<Which, string> = { k: "keys", v: "values" };

export function HeatCard({ scores }: { scores: CalibrationScores }) {
  const [which, setWhich] = useState<Which>("k");
  const { k, v, k_by_layer_head, v_by_layer_head } = scores.kv_cosine;
  const layers = which === "k" ? k_by_layer_head : v_by_layer_head;
  const heads = layers[0]?.length ?? 0;
  return (
    <ChartFrame
      title="Closeness of the mapped cache"
      hint="Mean cosine of mapped and native rows, by target layer and KV head."
      chart={
        layers.length === 0 ? (
          <p className="text-ink-soft">This run recorded no map by layer and head.</p>
        ) : (
          <>
            <fieldset className="mb-2 flex gap-1">
              <legend className="sr-only">Which half of the cache</legend>
              {(["k", "v"] as const).map((half) => (
                <Button
                  key={half}
                  size="small"
                  kind={which === half ? "plain" : "quiet"}
                  aria-pressed={which === half}
                  onClick={() => setWhich(half)}
                >
                  {half === "k" ? `Keys ${share(k)}` : `Values ${share(v)}`}
                </Button>
              ))}
            </fieldset>
            <HeatMap layers={layers} which={which} />
          </>
        )
      }
      table={
        <FigureTable
          caption={`Cosine of mapped ${NAME[which]} by layer and head`}
          head={[
            "Layer",
            ...Array.from({ length: heads }, (_, head) => `${which.toUpperCase()} head ${head}`),
          ]}
          rows={layers.map((row, layer) => [layer, ...row.map((value) => share(value))])}
        />
      }
    />
  );
}

function HeatMap({ layers, which }: { layers: number[][]; which: Which }) {
  const [at, setAt] = useState<{ layer: number; head: number } | null>(null);
  const heads = layers[0]?.length ?? 0;
  const floor = heatFloor(layers);
  const worst = lowest(layers);
  const shown = at ?? worst;
  const value = layers[shown.layer]?.[shown.head] ?? 0;
  const heat = (row: number[], head: number) => heatOf(row[head] ?? 0, floor);
  const named = layers.length <= NAMED;
  return (
    <div className="@container flex flex-1 flex-col">
      <div
        role="img"
        aria-label={`Heat map of the cosine of mapped ${NAME[which]}: ${layers.length} layers, ${heads} heads; lowest ${share(layers[worst.layer]?.[worst.head] ?? 0)} at layer ${worst.layer}, head ${worst.head}`}
        className="mark-forced grid flex-1 grid-cols-[auto_minmax(0,1fr)] grid-rows-[minmax(0,1fr)_auto] gap-x-2"
        onPointerLeave={() => setAt(null)}
      >
        <div
          className="grid gap-0.5 text-right text-[0.75rem] text-ink-soft"
          style={{ gridTemplateRows: `repeat(${heads}, minmax(1.5rem, 1fr))` }}
        >
          {Array.from({ length: heads }, (_, head) => (
            <span key={`h${head.toString()}`} className="flex items-center justify-end leading-none">
              {head === 0 ? "head 0" : head}
            </span>
          ))}
        </div>
        <div
          className={`grid gap-y-0.5 ${layers.length > 24 ? "gap-x-px max-sm:gap-x-0" : "gap-x-0.5"}`}
          style={{
            gridTemplateColumns: `repeat(${layers.length}, minmax(0, 1fr))`,
            gridTemplateRows: `repeat(${heads}, minmax(1.5rem, 1fr))`,
          }}
        >
          {Array.from({ length: heads }, (_, head) =>
            layers.map((row, layer) => (
              <div
                key={`${layer.toString()}-${head.toString()}`}
                onPointerEnter={() => setAt({ layer, head })}
                className={`flex min-w-0 items-center justify-center overflow-hidden rounded-[3px] text-[0.75rem] tabular-nums ${shown.layer === layer && shown.head === head ? "outline-2 outline-ink" : ""}`}
                style={{ background: heatColour(heat(row, head)), color: heatInk(heat(row, head)) }}
              >
                {named ? <span className="@max-md:hidden">{(row[head] ?? 0).toFixed(2)}</span> : null}
              </div>
            )),
          )}
        </div>
        <span />
        <div className="mt-1 flex justify-between text-[0.75rem] text-ink-soft">
          <span>layer 0</span>
          <span>layer {layers.length - 1}</span>
        </div>
      </div>
      <div className="mt-2 flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-[0.8125rem]">
        <span className="inline-flex items-center gap-2 text-ink-soft">
          {floor.toFixed(1)}
          <i
            aria-hidden="true"
            className="mark-forced h-3 w-28 rounded-sm border border-line"
            style={{ background: `linear-gradient(to right in oklab, ${heatColour(0)}, ${heatColour(1)})` }}
          />
          1.0, fuller is closer
        </span>
        <span aria-hidden="true">
          {at ? "" : "lowest: "}layer {shown.layer}, head {shown.head}:{" "}
          <b className="font-semibold tabular-nums">{share(value)}</b>
        </span>
      </div>
    </div>
  );
}

function lowest(layers: number[][]): { layer: number; head: number } {
  let found = { layer: 0, head: 0 };
  layers.forEach((row, layer) => {
    row.forEach((value, head) => {
      if (value < (layers[found.layer]?.[found.head] ?? 1)) found = { layer, head };
    });
  });
  return found;
}
