"use client";

import type { Ladder } from "@helm/contracts";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count } from "../../ui/numbers";
import { LineKey } from "../scores/cost-chart";
import { LadderChart, type LadderLine } from "./ladder-chart";
import { type ChartRow, chartRows } from "./ladder-words";

const THIS = { name: "this ladder", stroke: "var(--accent)" };
const OTHER = { name: "the other", stroke: "var(--busy)", dash: "5 4" };

/** Throughput and first token by clients, of one ladder or of two. */
export function LadderFigures({ shown, beside }: { shown: Ladder; beside: Ladder | null }) {
  const rows = chartRows(shown, beside);
  const rate: LadderLine[] = [{ key: "shown", ...THIS }];
  const first: LadderLine[] = [{ key: "shownFirst", ...THIS }];
  if (beside) {
    rate.push({ key: "beside", ...OTHER });
    first.push({ key: "besideFirst", ...OTHER });
  }
  if (shown.targets.length > 0)
    rate.push({ key: "target", name: "target", stroke: "var(--warn)", dots: true });
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Figure
        title="Correct answers a second"
        hint="What was refused, failed or came out different never counts."
        rows={rows}
        lines={rate}
        unit="/s"
      />
      <Figure
        title="First token, 95th percentile"
        hint="From sending a request to the first text of its answer, queue included."
        rows={rows}
        lines={first}
        unit="ms"
      />
    </div>
  );
}

function Figure({
  title,
  hint,
  rows,
  lines,
  unit,
}: {
  title: string;
  hint: string;
  rows: ChartRow[];
  lines: LadderLine[];
  unit: string;
}) {
  return (
    <ChartFrame
      title={title}
      hint={hint}
      chart={
        <>
          <LineKey lines={lines} />
          <LadderChart rows={rows} lines={lines} unit={unit} />
        </>
      }
      table={
        <FigureTable
          caption={`${title}, by clients`}
          head={["Clients", ...lines.map(({ name }) => name)]}
          rows={rows.map((row) => [
            count(row.clients),
            ...lines.map(({ key }) => (row[key] === null ? "" : `${row[key]?.toFixed(1)} ${unit}`)),
          ])}
        />
      }
    />
  );
}
