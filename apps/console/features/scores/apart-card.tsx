"use client";

import type { Assessment } from "@helm/contracts";
import type { ReactNode } from "react";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count, share } from "../../ui/numbers";
import type { Mark } from "./track";
import { TrackRows } from "./track-rows";

const BUCKETS = [
  ["first", "1st token"],
  ["early", "2nd to 16th"],
  ["late", "17th to 64th"],
] as const;

/** Retention by bucket after the hand-over and by kind of probe; buckets are parts of one mean and have no interval. */
export function ApartCard({ assessment }: { assessment: Assessment }) {
  const { retention, by_domain: domains, gate } = assessment;
  const tone = (value: number): Mark["tone"] => (value >= gate ? "good" : "warn");
  const buckets = BUCKETS.map(([key, label]) => {
    const value = retention.buckets[key];
    return { key, label, mark: { value, tone: tone(value) } };
  });
  const kinds = Object.entries(domains).map(([key, { retention: value, low, high }]) => ({
    key,
    label: key,
    mark: { value, low, high, tone: tone(value) },
  }));
  return (
    <ChartFrame
      title="Retention, taken apart"
      hint="An average over running text hides the hand-over: the first token stands alone."
      chart={
        <div className="grid gap-x-10 gap-y-3 [--label:6.5rem] lg:grid-cols-2">
          <Group name="After the hand-over">
            <TrackRows rows={buckets} gate={gate} />
          </Group>
          {kinds.length > 0 ? (
            <Group name="By kind of probe">
              <TrackRows rows={kinds} gate={gate} />
            </Group>
          ) : null}
        </div>
      }
      table={
        <FigureTable
          caption="Retention by bucket and by kind of probe"
          head={["Part", "Retention", "Low", "High", "1st token", "2 to 16", "17 to 64", "Sequences"]}
          rows={[
            ...BUCKETS.map(([key, label]) => [
              label,
              share(retention.buckets[key]),
              "",
              "",
              "",
              "",
              "",
              count(retention.n),
            ]),
            ...Object.entries(domains).map(([key, score]) => [
              key,
              share(score.retention),
              share(score.low),
              share(score.high),
              share(score.buckets.first),
              share(score.buckets.early),
              share(score.buckets.late),
              count(score.n),
            ]),
          ]}
        />
      }
    />
  );
}

function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="text-[0.8125rem] font-medium text-ink-soft">{name}</h3>
      {children}
    </div>
  );
}
