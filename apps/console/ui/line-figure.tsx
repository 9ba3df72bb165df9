"use client";

import clsx from "clsx";
import type { ReactElement } from "react";
import { ResponsiveContainer } from "recharts";

/** What the axes of every chart of lines are written in. */
export const axisText = { fill: "var(--ink-soft)", fontSize: 12 };

export const lineMargin = { top: 8, right: 14, bottom: 18, left: 0 };

/** The name of a horizontal axis. */
export const axisName = (value: string) => ({
  value,
  position: "insideBottom" as const,
  offset: -12,
  ...axisText,
});

/** The room that a chart of lines fills: all that its card has, `className` says how little may be enough. */
export function LineSpace({ children, className }: { children: ReactElement; className?: string }) {
  return (
    <div className={clsx("relative w-full flex-1", className)}>
      {/* A height that the parent stretches is no definite one: without this the chart would have none. */}
      <div className="absolute inset-0">
        <ResponsiveContainer width="100%" height="100%" minWidth={0}>
          {children}
        </ResponsiveContainer>
      </div>
    </div>
  );
}

/** The figures under the pointer, a line of the chart each. */
export function LineFigures({ title, figures }: { title: string; figures: [name: string, value: string][] }) {
  return (
    <div className="rounded-lg border border-line bg-raised px-3 py-2 text-[0.8125rem] shadow-float">
      <div className="font-semibold">{title}</div>
      {figures.map(([name, value]) => (
        <div key={name} className="flex justify-between gap-4">
          <span className="text-ink-soft">{name}</span>
          <span className="tabular-nums">{value}</span>
        </div>
      ))}
    </div>
  );
}
