"use client";

import type { RunComparison } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { parseAsString, useQueryStates } from "nuqs";
import { QueryView } from "../../api/query-view";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import { FigureTable } from "../../ui/chart-frame";
import { Command } from "../../ui/command";
import { SelectField } from "../../ui/field";
import { count, share, signed } from "../../ui/numbers";
import { usePreferences } from "../preferences/provider";
import { absoluteTime } from "../preferences/time-words";
import { DifferenceRows } from "../scores/difference-rows";
import { command } from "../shell/commands";

type Row = Outputs["calibration"]["list"]["rows"][number];
type Compared = Extract<RunComparison, { comparable: true }>;

/** Two runs of one pair on the same probes; which two is in the address. */
export function CompareCard({ rows, activeRun }: { rows: Row[]; activeRun: string | null }) {
  const trpc = useTRPC();
  const scored = rows.filter((row) => row.score !== null);
  const [chosen, choose] = useQueryStates({ first: parseAsString, second: parseAsString });
  const known = (id: string | null) => (scored.some((row) => row.id === id) ? id : null);
  const second = known(chosen.second) ?? scored[0]?.id ?? "";
  const others = scored.filter((row) => row.id !== second);
  const first = known(chosen.first) ?? others.find((row) => row.id === activeRun)?.id ?? others[0]?.id ?? "";
  const comparison = useQuery({
    ...trpc.calibration.compare.queryOptions({ first, second }),
    enabled: first !== "" && second !== "" && first !== second,
  });
  if (scored.length < 2) return null;
  return (
    <Card
      title="Two calibrations, compared"
      hint="On the sequences that both were scored on, paired: what the two share cancels."
    >
      <div className="mb-4 grid gap-3 sm:grid-cols-2">
        <RunChoice
          label="First"
          rows={scored}
          activeRun={activeRun}
          value={first}
          onChange={(id) => void choose({ first: id })}
        />
        <RunChoice
          label="Second"
          rows={scored}
          activeRun={activeRun}
          value={second}
          onChange={(id) => void choose({ second: id })}
        />
      </div>
      {first === second ? (
        <p className="text-ink-soft">Choose two different runs.</p>
      ) : (
        <QueryView query={comparison} label="Comparing">
          {(found) =>
            found.comparable ? (
              <>
                <Difference found={found} />
                <div className="mt-4">
                  <Command text={command.compare(first, second)} />
                </div>
              </>
            ) : (
              <p className="rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
                Not comparable: {found.reason}
              </p>
            )
          }
        </QueryView>
      )}
    </Card>
  );
}

function RunChoice({
  label,
  rows,
  activeRun,
  value,
  onChange,
}: {
  label: string;
  rows: Row[];
  activeRun: string | null;
  value: string;
  onChange: (id: string) => void;
}) {
  const { zone } = usePreferences();
  return (
    <SelectField label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {rows.map((row) => (
        <option key={row.id} value={row.id}>
          {`${row.method}, k ${row.k}, ${row.score ? share(row.score.retention.value) : ""}, ${absoluteTime(row.createdAt, zone)}${row.id === activeRun ? " (active)" : ""}`}
        </option>
      ))}
    </SelectField>
  );
}

const BUCKETS = [
  ["first", "1st token"],
  ["early", "2nd to 16th"],
  ["late", "17th to 64th"],
] as const;

function Difference({ found }: { found: Compared }) {
  const rows = [
    { key: "all", label: "retention", estimate: found.difference, strong: true },
    ...BUCKETS.map(([key, label]) => ({ key, label, estimate: found.buckets[key], strong: false })),
  ];
  return (
    <div className="grid gap-4">
      <p className="text-[0.9375rem]">
        {found.sentence} On these {count(found.shared)} sequences: {share(found.first)} and then{" "}
        {share(found.second)}.
      </p>
      <DifferenceRows rows={rows} />
      <FigureTable
        caption="Paired differences, in points"
        head={["Part", "Difference", "Low", "High"]}
        rows={rows.map(({ label, estimate }) => [
          label,
          ...[estimate.value, estimate.low, estimate.high].map((value) => signed(100 * value, 2)),
        ])}
      />
    </div>
  );
}
