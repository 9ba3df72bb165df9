"use client";

import { ChartNoAxesColumn, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { Card } from "./card";

/** A chart with the same figures as a table behind it. */
export function ChartFrame({
  title,
  hint,
  chart,
  table,
  note,
  className,
}: {
  title: string;
  hint?: ReactNode;
  chart: ReactNode;
  table: ReactNode;
  note?: ReactNode;
  className?: string;
}) {
  const [asTable, setAsTable] = useState(false);
  const Icon = asTable ? ChartNoAxesColumn : Table2;
  return (
    <Card
      title={title}
      hint={hint}
      className={className}
      action={
        <Button kind="quiet" size="small" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          <Icon aria-hidden="true" className="size-4" />
          {asTable ? "Chart" : "Table"}
          <span className="sr-only"> of {title}</span>
        </Button>
      }
    >
      <div className="flex min-h-0 flex-1 flex-col">{asTable ? table : chart}</div>
      {note ? <div className="mt-3 text-[0.8125rem] text-ink-soft">{note}</div> : null}
    </Card>
  );
}

/** Plain figures: first column names the row, the others are numbers. */
export function FigureTable({
  caption,
  head,
  rows,
}: {
  caption: string;
  head: string[];
  rows: ReactNode[][];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section className="max-h-96 overflow-auto" tabIndex={0} aria-label={caption}>
      <table className="w-full border-collapse text-[0.8125rem]">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {head.map((name, index) => (
              <th
                key={name}
                scope="col"
                className={`sticky top-0 border-b border-line bg-card px-2 py-1.5 font-medium text-ink-soft ${index === 0 ? "text-left" : "text-right"}`}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, rowIndex) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the figures of a chart do not move
            <tr key={rowIndex} className="border-b border-line last:border-b-0">
              {row.map((cell, index) =>
                index === 0 ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns are fixed
                  <th key={index} scope="row" className="px-2 py-1.5 text-left font-normal">
                    {cell}
                  </th>
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns are fixed
                  <td key={index} className="px-2 py-1.5 text-right tabular-nums">
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
