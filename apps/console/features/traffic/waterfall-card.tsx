"use client";

import { Badge } from "../../ui/badge";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { milliseconds } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import type { Trace } from "./use-traffic";
import { type Bar, waterfallOf } from "./waterfall";

/** Where the time went, from arrival to the last byte. */
export function WaterfallCard({ trace }: { trace: Trace["trace"] }) {
  const bars = waterfallOf(trace);
  const none = <Empty title="No engine was asked">The request was turned away before any model ran.</Empty>;
  const scale = Math.max(trace.total_ms, ...bars.map(({ toMs }) => toMs), 0.01);
  return (
    <ChartFrame
      title="Where the time went"
      hint={`From the request's arrival; ${milliseconds(trace.total_ms)} in all. A line within a bar is its first token.`}
      chart={
        bars.length === 0 ? (
          none
        ) : (
          <ul className="space-y-2.5">
            {bars.map((bar, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the bars of a request that is over do not move
              <Row key={at} bar={bar} scale={scale} />
            ))}
          </ul>
        )
      }
      table={
        bars.length === 0 ? (
          none
        ) : (
          <FigureTable
            caption="Legs and steps"
            head={["Step", "Model", "From", "Duration", "First token", "End"]}
            rows={bars.map((bar) => [
              bar.name,
              bar.model ?? "",
              milliseconds(bar.fromMs),
              milliseconds(bar.toMs - bar.fromMs),
              bar.firstTokenMs === null ? "" : milliseconds(bar.firstTokenMs - bar.fromMs),
              bar.note,
            ])}
          />
        )
      }
    />
  );
}

function Row({ bar, scale }: { bar: Bar; scale: number }) {
  const left = (bar.fromMs / scale) * 100;
  const width = Math.max(0.5, ((bar.toMs - bar.fromMs) / scale) * 100);
  return (
    <li className="grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,16rem)_minmax(0,1fr)] sm:items-center">
      <div className={bar.step ? "min-w-0 pl-4 text-[0.8125rem] text-ink-soft" : "min-w-0"}>
        <span className="[overflow-wrap:anywhere]">
          {bar.name}
          {bar.model ? <span className="text-ink-soft"> {bar.model}</span> : null}
        </span>{" "}
        {bar.answered ? <Badge tone="good">answered</Badge> : null}
        <span className="block text-[0.8125rem] text-ink-soft">
          {milliseconds(bar.toMs - bar.fromMs)}
          {bar.firstTokenMs === null ? "" : `, first token ${milliseconds(bar.firstTokenMs - bar.fromMs)}`}
          {bar.note ? `, ${bar.note}` : ""}
        </span>
      </div>
      <div
        aria-hidden="true"
        className={bar.step ? "relative h-3 rounded bg-track" : "relative h-5 rounded bg-track"}
      >
        <div
          className={`absolute inset-y-0 rounded ${bar.answered ? "bg-accent" : bar.step ? "bg-line-strong" : "bg-busy"}`}
          style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
        />
        {bar.firstTokenMs === null ? null : (
          <div
            className="absolute inset-y-0 w-0.5 bg-card"
            style={{ left: `${(bar.firstTokenMs / scale) * 100}%` }}
          />
        )}
      </div>
    </li>
  );
}
