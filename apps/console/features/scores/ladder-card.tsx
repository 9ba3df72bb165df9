"use client";

import type { Assessment } from "@helm/contracts";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count, share } from "../../ui/numbers";
import { ARMS, ladderRows } from "./arm-words";
import type { Published } from "./published";
import type { Mark } from "./track";
import { TrackRows } from "./track-rows";

export function LadderCard({
  assessment,
  published,
}: {
  assessment: Assessment;
  published: Published | null;
}) {
  const rows = ladderRows(assessment);
  const cleared = assessment.verdict === "CLEARED";
  const toneOf = (kind: "mapper" | "rival" | "control", arm: string): Mark["tone"] => {
    if (kind === "mapper") return cleared ? "good" : "warn";
    return arm === "pilot_alone" || arm === "plain_ridge" ? "accent" : "plain";
  };
  return (
    <ChartFrame
      title="Where this mapper stands"
      hint="Every arm is scored on the same unseen probes, with the same exact ends."
      chart={
        <TrackRows
          gate={assessment.gate}
          rows={rows.map((row) => {
            const { name, kind, words } = ARMS[row.arm];
            return {
              key: row.arm,
              label: <span title={words}>{name}</span>,
              strong: kind === "mapper",
              mark: {
                value: row.retention,
                low: row.low,
                high: row.high,
                tone: toneOf(kind, row.arm),
                big: kind === "mapper",
              },
            };
          })}
        />
      }
      table={
        <FigureTable
          caption="Retention of every arm"
          head={["Arm", "Retention", "Low", "High", "1st token", "2 to 16", "17 to 64", "Sequences"]}
          rows={rows.map((row) => [
            <span key={row.arm}>
              {ARMS[row.arm].name} <span className="text-ink-soft">({ARMS[row.arm].words})</span>
            </span>,
            share(row.retention),
            share(row.low),
            share(row.high),
            share(row.buckets.first),
            share(row.buckets.early),
            share(row.buckets.late),
            count(row.n),
          ])}
        />
      }
      note={
        <>
          Dot: retention; band: 95 % interval. The gate compares the{" "}
          {assessment.gate_on === "lower" ? "lower bound" : "point value"}. Identity and self-map test the
          machinery, not the pair.
          {published?.retention == null
            ? null
            : ` Published for ${published.pair}: ${published.retention} (${published.where}), on other probes.`}
        </>
      }
    />
  );
}
