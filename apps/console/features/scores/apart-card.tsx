"use client";

import type { ArmScore, Assessment } from "@helm/contracts";
import type { ReactNode } from "react";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count, share } from "../../ui/numbers";
import { ARMS } from "./arm-words";
import { type TrackRow, TrackRows } from "./track-rows";

const BUCKETS = [
  ["first", "1st token"],
  ["early", "2nd to 16th"],
  ["late", "17th to 64th"],
] as const;

type Part = { name: string; rows: { key: string; label: string; score: ArmScore | number }[] };

/** Retention by bucket, kind of probe, length of the prefix and beyond the fitted length; buckets have no interval. */
export function ApartCard({ assessment }: { assessment: Assessment }) {
  const { gate, long } = assessment;
  const parts = partsOf(assessment);
  const leftOut = (long ?? []).filter((row) => row.left_out);
  return (
    <ChartFrame
      title="Retention, taken apart"
      hint="An average over running text hides the hand-over: the first token stands alone."
      chart={
        <div className="grid gap-x-10 gap-y-5 [--label:7.5rem] lg:grid-cols-2">
          {parts.map(({ name, rows }) => (
            <Group key={name} name={name}>
              <TrackRows gate={gate} rows={rows.map((row) => trackRow(row, gate))} />
            </Group>
          ))}
        </div>
      }
      table={
        <FigureTable
          caption="Retention by part"
          head={["Part", "Retention", "Low", "High", "1st token", "2 to 16", "17 to 64", "Sequences"]}
          rows={parts.flatMap(({ name, rows }) =>
            rows.map(({ label, score }) => [
              <span key={label}>
                <span className="text-ink-soft">{name}:</span> {label}
              </span>,
              ...figures(score),
            ]),
          )}
        />
      }
      note={
        (long ?? []).length === 0 ? undefined : (
          <>
            Rows beyond the fitted length stand alone: the gate never sees them.
            {leftOut.map((row) => ` ${row.multiple} times was left out: ${row.left_out}.`)}
          </>
        )
      }
    />
  );
}

function partsOf({ retention, by_domain: domains, by_prefix: prefixes, long }: Assessment): Part[] {
  const scores = (found: Record<string, ArmScore>, word = "") =>
    Object.entries(found).map(([key, score]) => ({ key, label: `${key}${word}`, score }));
  const beyond = (long ?? []).flatMap(({ multiple, arms }) =>
    (["mapper", "identity", "zero_cache"] as const).flatMap((arm) => {
      const score = arms[arm];
      const label = arm === "mapper" ? `${multiple} times` : ARMS[arm].name;
      return score ? [{ key: `${multiple} ${arm}`, label, score }] : [];
    }),
  );
  const parts = [
    {
      name: "After the hand-over",
      rows: BUCKETS.map(([key, label]) => ({ key, label, score: retention.buckets[key] })),
    },
    { name: "By kind of probe", rows: scores(domains) },
    { name: "By tokens before the hand-over", rows: scores(prefixes ?? {}) },
    { name: "Beyond the fitted length", rows: beyond },
  ];
  return parts.filter(({ rows }) => rows.length > 0);
}

function trackRow({ key, label, score }: Part["rows"][number], gate: number): TrackRow {
  const value = typeof score === "number" ? score : score.retention;
  const rival = key.endsWith("identity") || key.endsWith("zero_cache");
  const tone = rival ? "plain" : value >= gate ? "good" : "warn";
  const interval = typeof score === "number" ? {} : { low: score.low, high: score.high };
  return {
    key,
    label: rival ? <span className="text-ink-soft sm:pl-3">{label}</span> : label,
    mark: { value, tone, ...interval },
  };
}

function figures(score: ArmScore | number): string[] {
  if (typeof score === "number") return [share(score), "", "", "", "", "", ""];
  const { first, early, late } = score.buckets;
  return [...[score.retention, score.low, score.high, first, early, late].map(share), count(score.n)];
}

function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="text-[0.8125rem] font-medium text-ink-soft">{name}</h3>
      {children}
    </div>
  );
}
