"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { parseAsStringEnum, useQueryState } from "nuqs";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { bytes, count, plural, share } from "../../ui/numbers";
import { heatColour, heatInk } from "../scores/heat-ink";
import { familyBlocks, type Square, type Storage, squaresOf } from "./directions";
import { gaugeScale } from "./gauge-scale";
import type { Pair } from "./pair-words";

type Shown = "retention" | "storage";

/** Source by target: what is measured, what could be, and what the mappers of all directions take. */
export function DirectionsCard({ pairs }: { pairs: Pair[] }) {
  const trpc = useTRPC();
  const storage = useQuery(trpc.pair.storage.queryOptions());
  const [shown, show] = useQueryState(
    "matrix",
    parseAsStringEnum<Shown>(["retention", "storage"]).withDefault("retention"),
  );
  return (
    <QueryView query={storage} label="Loading all directions" rows={3}>
      {(found) =>
        found.models.length < 2 ? null : (
          <ChartFrame
            title="Every direction"
            hint={sentenceOf(found)}
            chart={
              <>
                <fieldset className="mb-3 flex gap-1">
                  <legend className="sr-only">What the cells show</legend>
                  {(["retention", "storage"] as const).map((one) => (
                    <Button
                      key={one}
                      size="small"
                      kind={shown === one ? "plain" : "quiet"}
                      aria-pressed={shown === one}
                      onClick={() => void show(one)}
                    >
                      {one === "retention" ? "Retention" : "Storage"}
                    </Button>
                  ))}
                </fieldset>
                <div className="flex flex-wrap items-start gap-x-10 gap-y-4">
                  <Matrix storage={found} pairs={pairs} shown={shown} />
                  <Taken storage={found} />
                </div>
              </>
            }
            table={<DirectionTable storage={found} pairs={pairs} />}
            note={<Computed storage={found} />}
          />
        )
      }
    </QueryView>
  );
}

function Taken({ storage: { all, held, activeBytes } }: { storage: Storage }) {
  const rows: [string, string, string][] = [
    ["Stored now", bytes(held.bytes), `${plural(held.mappers, "mapper")} in ${plural(held.files, "file")}`],
    ["Active ones", bytes(activeBytes), "what nodes fetch"],
    ["One for every direction", bytes(all.bytes), `${count(all.possible)} possible`],
  ];
  return (
    <dl className="grid min-w-56 flex-1 gap-3 sm:grid-cols-3 lg:max-w-2xl">
      {rows.map(([name, figure, rest]) => (
        <div key={name} className="rounded-lg bg-panel px-3.5 py-3">
          <dt className="text-[0.8125rem] text-ink-soft">{name}</dt>
          <dd>
            <span className="block text-lg font-semibold tabular-nums">{figure}</span>
            <span className="text-[0.8125rem] text-ink-soft">{rest}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What lies there, and what one mapper for each possible direction would take. */
function sentenceOf({ models, all, held, activeBytes }: Storage): string {
  const now =
    held.mappers === 0
      ? "No mapper is stored yet."
      : `${plural(held.mappers, "mapper")} ${held.mappers === 1 ? "takes" : "take"} ${bytes(held.bytes)} now, the active ones ${bytes(activeBytes)} of it.`;
  const n = models.length;
  const rest = all.impossible > 0 ? `, ${count(all.impossible)} of them impossible` : "";
  return `${now} ${n} models have ${count(n * (n - 1))} directions${rest}; a mapper for each of the ${count(all.possible)} possible ones would take ${bytes(all.bytes)}.`;
}

function Computed({ storage: { all, assumed } }: { storage: Storage }) {
  const unit = assumed.weights === "float32" ? "float32, as a CPU keeps them" : "bf16, as a GPU keeps them";
  return (
    <p>
      {count(all.measured)} measured from the file that is there, {count(all.computed)} computed from the
      models' shapes: layers of the target x 2 (keys and values) x (k source layers' heads x the target's
      heads, and a bias), method {assumed.method}, k {assumed.k}, weights in {unit}. A file holds its manifest
      beside the weights. The table says each one's figures.
      {all.missing > 0 ? ` Of ${all.missing} no known fact tells the size; they are not in the sum.` : ""}
    </p>
  );
}

function Matrix({ storage, pairs, shown }: { storage: Storage; pairs: Pair[]; shown: Shown }) {
  const rows = squaresOf(storage, pairs);
  const blocks = familyBlocks(storage.models);
  const order = blocks.flatMap(({ models }) => models);
  const heat = heatOf(rows.flat(), shown);
  const last = new Set(blocks.map(({ models }) => models.at(-1)));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section aria-label="Source by target" tabIndex={0} className="max-w-full overflow-x-auto pb-1">
      <table className="border-separate border-spacing-0.5 text-[0.8125rem]">
        <caption className="sr-only">
          {shown === "retention" ? "Retention" : "What a mapper takes"} by source (rows) and target (columns)
        </caption>
        <thead>
          <tr>
            <td className="pr-2 text-right align-bottom text-[0.75rem] text-ink-soft">source \ target</td>
            {order.map((target) => (
              <th
                key={target}
                scope="col"
                className={`min-w-22 px-1 pb-1 align-bottom font-medium break-words ${last.has(target) ? "pr-3" : ""}`}
              >
                {target}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {blocks.map(({ family, models }) =>
            models.map((source, index) => (
              <tr key={source}>
                <th scope="row" className="pr-2 text-right font-medium">
                  {index === 0 ? (
                    <span className="block text-[0.75rem] font-normal text-ink-soft">{family}</span>
                  ) : null}
                  {source}
                </th>
                {(rows[order.indexOf(source)] ?? []).map((square) => (
                  <Cell key={square.target} square={square} shown={shown} heat={heat} />
                ))}
              </tr>
            )),
          )}
        </tbody>
      </table>
    </section>
  );
}

function Cell({
  square,
  shown,
  heat,
}: {
  square: Square;
  shown: Shown;
  heat: (square: Square) => number | null;
}) {
  const at = heat(square);
  const text = shown === "retention" ? retentionText(square) : storageText(square);
  const look = at === null ? undefined : { background: heatColour(at), color: heatInk(at) };
  const plain =
    square.kind === "impossible" || square.kind === "self"
      ? "bg-plain-wash"
      : "border border-dashed border-line";
  return (
    <td
      className={`mark-forced h-12 min-w-22 rounded-md px-1.5 text-center tabular-nums ${look ? "" : `${plain} text-ink-soft`}`}
      style={look}
      title={titleOf(square)}
    >
      {square.pair ? (
        <Link
          href={`/pairs/${square.pair.id}`}
          className="inline-flex min-h-6 flex-col items-center justify-center underline-offset-4 hover:underline"
        >
          {text}
          <span className="sr-only">
            : {square.source} to {square.target}
          </span>
        </Link>
      ) : (
        text
      )}
    </td>
  );
}

function retentionText({ kind, retention, cleared, source, target }: Square) {
  switch (kind) {
    case "measured":
      return (
        <>
          <span className="font-semibold">{share(retention ?? 0)}</span>
          <span className="text-[0.75rem]">
            {source === target ? "control" : cleared ? "cleared" : "below gate"}
          </span>
        </>
      );
    case "unmeasured":
      return "not measured";
    case "impossible":
      return "impossible";
    case "self":
      return "itself";
    case "unregistered":
      return "not registered";
  }
}

function storageText({ kind, direction, pair }: Square) {
  if (direction?.bytes != null)
    return (
      <>
        <span className="block font-semibold">{bytes(direction.bytes)}</span>
        <span className="block text-[0.75rem]">{direction.basis}</span>
      </>
    );
  if (kind === "self") return "itself";
  if (pair?.control) return pair.active ? bytes(pair.active.bytes) : "control";
  return direction?.basis === "unknown" ? "unknown" : "impossible";
}

function titleOf({ direction, source, target }: Square): string {
  if (!direction) return `${source} with itself`;
  const causes = direction.causes.map(({ sentence }) => sentence).join(" ");
  return causes || `${source} to ${target}: ${direction.how}`;
}

/** 0 to 1 on the scale of the card's own cells, null for a cell without a figure. */
function heatOf(squares: Square[], shown: Shown): (square: Square) => number | null {
  if (shown === "retention") {
    const scale = gaugeScale(squares.map(({ retention }) => retention));
    return ({ retention }) => (retention === null ? null : scale.at(retention) / 100);
  }
  const sizes = squares.flatMap(({ direction }) => direction?.bytes ?? []);
  const most = Math.max(1, ...sizes);
  return ({ direction }) => (direction?.bytes == null ? null : direction.bytes / most);
}

function DirectionTable({ storage, pairs }: { storage: Storage; pairs: Pair[] }) {
  const squares = squaresOf(storage, pairs)
    .flat()
    .filter(({ direction }) => direction);
  return (
    <FigureTable
      caption="Every direction with its retention and what a mapper takes"
      head={["Direction", "Family", "State", "Retention", "One mapper", "How it is known", "Stored now"]}
      rows={squares.map(({ source, target, kind, retention, direction, pair }) => [
        `${source} to ${target}`,
        direction?.family ?? "none",
        pair?.status ?? (kind === "impossible" ? "impossible" : "not registered"),
        retention === null ? "" : share(retention),
        direction?.bytes == null ? "" : bytes(direction.bytes),
        <span key="how" className="block max-w-72 text-left">
          {direction && direction.causes.length > 0 && direction.basis === "impossible"
            ? direction.causes.map(({ cause }) => cause).join(", ")
            : `${direction?.basis}: ${direction?.how}`}
        </span>,
        direction && direction.held.mappers > 0
          ? `${bytes(direction.held.bytes)} in ${direction.held.mappers}`
          : "",
      ])}
    />
  );
}
