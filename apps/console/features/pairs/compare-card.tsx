"use client";

import type { RunComparison } from "@helm/contracts";
import { useQueries } from "@tanstack/react-query";
import Link from "next/link";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { Command } from "../../ui/command";
import { count, share, signed } from "../../ui/numbers";
import { Loading } from "../../ui/states";
import type { RunRow } from "../calibrations/run-columns";
import { usePreferences } from "../preferences/provider";
import { absoluteTime } from "../preferences/time-words";
import { DifferenceRows } from "../scores/difference-rows";
import { command } from "../shell/commands";

type Compared = Extract<RunComparison, { comparable: true }>;
type Answer = { row: RunRow; found: RunComparison | null; problem: string | null };

/**
 * The chosen runs of a pair, each against the first of them; where nothing was chosen, the active mapper's run against the
 * newest other one. Which ones is in the address.
 */
export function CompareCard({
  rows,
  chosen,
  activeRun,
}: {
  rows: RunRow[];
  chosen: string[];
  activeRun: string | null;
}) {
  const trpc = useTRPC();
  const { zone } = usePreferences();
  const [base, ...others] = baseFirst(rows, chosen, activeRun);
  const asked = useQueries({
    queries: others.map((row) =>
      trpc.calibration.compare.queryOptions({ first: base?.id ?? "", second: row.id }),
    ),
  });
  if (!base || others.length === 0) return null;
  const answers = others.map((row, at): Answer => {
    const query = asked[at];
    return { row, found: query?.data ?? null, problem: query?.error ? problemOf(query.error).message : null };
  });
  const name = (row: RunRow) => `${row.method}, k ${row.k}, ${absoluteTime(row.createdAt, zone)}`;
  const title =
    others.length === 1 ? "Two calibrations, compared" : `${others.length + 1} calibrations, compared`;
  return (
    <ChartFrame
      title={title}
      hint={
        <>
          Each against <RunName row={base} active={base.id === activeRun} />. Paired, sequence by sequence,
          where both were scored on the same probes: what the two share cancels. Choose other runs in the list
          above.
        </>
      }
      chart={
        <div className="grid gap-6">
          {answers.map((answer) => (
            <section key={answer.row.id} aria-label={name(answer.row)}>
              <h3 className="mb-1 flex flex-wrap items-center gap-2 text-[0.875rem] font-medium">
                <RunName row={answer.row} active={answer.row.id === activeRun} />
                {answer.found?.comparable ? (
                  <Badge
                    tone={answer.found.paired ? "good" : "warn"}
                    shape={answer.found.paired ? "check" : "alert"}
                  >
                    {answer.found.paired ? "paired" : "unpaired"}
                  </Badge>
                ) : null}
              </h3>
              <Difference answer={answer} />
            </section>
          ))}
          <Command text={command.compare(base.id, ...others.map(({ id }) => id))} />
        </div>
      }
      table={
        <FigureTable
          caption={`Differences to ${name(base)}, in points`}
          head={["Run", "Pairing", "Sequences", "Part", "Difference", "Low", "High"]}
          rows={answers.flatMap(({ row, found }) =>
            found?.comparable
              ? partsOf(found).map(({ label, estimate }) => [
                  name(row),
                  found.paired ? "paired" : "unpaired",
                  found.paired
                    ? count(found.shared)
                    : `${count(found.sequences.first)}, ${count(found.sequences.second)}`,
                  label,
                  ...[estimate.value, estimate.low, estimate.high].map((value) => signed(100 * value, 2)),
                ])
              : [[name(row), "not comparable", "", "", "", "", ""]],
          )}
        />
      }
    />
  );
}

/** The chosen ones with a score, the active mapper's first; the first is what the others are held against. */
export function baseFirst<Row extends { id: string; score: unknown }>(
  rows: Row[],
  chosen: string[],
  activeRun: string | null,
): Row[] {
  const scored = rows.filter((row) => row.score !== null);
  const wanted = scored.filter(({ id }) => chosen.includes(id));
  const active = scored.find(({ id }) => id === activeRun);
  if (wanted.length >= 2) {
    const base = wanted.find(({ id }) => id === activeRun) ?? wanted.at(-1);
    return base ? [base, ...wanted.filter((row) => row !== base)] : [];
  }
  const base = active ?? scored[1];
  const other = wanted.find((row) => row !== base) ?? scored.find((row) => row !== base);
  return base && other ? [base, other] : [];
}

function RunName({ row, active }: { row: RunRow; active: boolean }) {
  const { zone } = usePreferences();
  return (
    <Link href={`/calibrations/${row.id}`} className="font-medium underline-offset-4 hover:underline">
      {row.method}, k {row.k}, {absoluteTime(row.createdAt, zone)}
      {active ? " (active mapper)" : ""}
    </Link>
  );
}

function partsOf({ difference, buckets }: Compared) {
  return [
    { key: "all", label: "retention", estimate: difference, strong: true },
    { key: "first", label: "1st token", estimate: buckets.first, strong: false },
    { key: "early", label: "2nd to 16th", estimate: buckets.early, strong: false },
    { key: "late", label: "17th to 64th", estimate: buckets.late, strong: false },
  ];
}

function Difference({ answer: { found, problem } }: { answer: Answer }) {
  if (problem) return <p className="text-bad-ink">{problem}</p>;
  if (!found) return <Loading rows={2} label="Comparing" />;
  if (!found.comparable)
    return <p className="rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">Not comparable: {found.reason}</p>;
  return (
    <div className="grid gap-3">
      <p>
        {found.sentence}{" "}
        <span className="text-ink-soft">
          {share(found.first)} and then {share(found.second)}.
        </span>
      </p>
      {found.note ? (
        <p className="rounded-lg bg-warn-wash px-3 py-2 text-[0.8125rem] text-warn-ink">{found.note}</p>
      ) : null}
      <DifferenceRows rows={partsOf(found)} />
    </div>
  );
}
