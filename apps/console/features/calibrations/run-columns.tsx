"use client";

import Link from "next/link";
import type { Outputs } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import type { Column } from "../../ui/data-table";
import { share } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";
import { RunProgress } from "./run-progress";
import { isOpen } from "./run-states";
import { RunState, VerdictBadge } from "./state-badge";

export type RunRow = Outputs["calibration"]["list"]["rows"][number];

const STARTED: Column<RunRow> = {
  id: "started",
  name: "Asked for",
  className: "whitespace-nowrap",
  value: (row) => row.createdAt,
  cell: (row) => (
    <>
      <TimeAgo at={row.createdAt} />
      <span className="sr-only">: open this run</span>
    </>
  ),
  csv: {
    id: (row) => row.id,
    created: (row) => row.createdAt,
    started: (row) => row.startedAt,
    ended: (row) => row.finishedAt,
  },
};

const PAIR: Column<RunRow> = {
  id: "pair",
  name: "Pair",
  value: (row) => row.pairName,
  cell: (row) => (
    <Link href={`/pairs/${row.pairId}`} className="underline-offset-4 hover:underline">
      {row.sourceModel} <span className="text-ink-soft">to</span> {row.targetModel}
    </Link>
  ),
  csv: { source: (row) => row.sourceModel, target: (row) => row.targetModel },
};

const REST: Column<RunRow>[] = [
  {
    id: "retention",
    name: "Retention",
    className: "@3xl:min-w-44",
    value: (row) => row.score?.retention.value ?? null,
    cell: (row) => <Retention row={row} />,
    csv: {
      retention: (row) => row.score?.retention.value ?? null,
      retention_low: (row) => row.score?.retention.low ?? null,
      retention_high: (row) => row.score?.retention.high ?? null,
      gate: (row) => row.score?.gate ?? null,
      error: (row) => row.error?.code ?? null,
    },
  },
  {
    id: "method",
    name: "Method",
    value: (row) => `${row.method}, k ${row.k}`,
    csv: { method: (row) => row.method, k: (row) => row.k },
  },
  { id: "corpus", name: "Corpus", value: (row) => row.corpus, className: "break-all" },
  {
    id: "device",
    name: "Device",
    value: (row) => row.device,
    csv: { device: (row) => row.device, development: (row) => row.developmentOnly },
  },
  {
    id: "attempt",
    name: "Attempt",
    value: (row) => row.attempt,
    className: "tabular-nums @3xl:@max-5xl:hidden",
  },
  {
    id: "by",
    name: "By",
    className: "break-all",
    value: (row) => (row.imported ? `${row.startedBy} (imported)` : row.startedBy),
  },
];

export const RUN_COLUMNS: Column<RunRow>[] = [STARTED, PAIR, stateColumn(null), ...REST];

/** On a pair's own page: without the pair, and saying which run's mapper is the active one. */
export function runColumnsOf(activeRun: string | null): Column<RunRow>[] {
  return [STARTED, stateColumn(activeRun), ...REST];
}

function stateColumn(activeRun: string | null): Column<RunRow> {
  return {
    id: "state",
    name: "State",
    value: (row) => row.state,
    cell: (row) => (
      <span className="inline-flex flex-wrap gap-1">
        <RunState state={row.state} />
        <VerdictBadge verdict={row.verdict} />
        {activeRun === row.id ? (
          <Badge tone="accent" shape="dot">
            active mapper
          </Badge>
        ) : null}
      </span>
    ),
    csv: { state: (row) => row.state, verdict: (row) => row.verdict },
  };
}

function Retention({ row }: { row: RunRow }) {
  if (isOpen(row.state)) return <RunProgress id={row.id} label={`Calibration of ${row.pairName}`} />;
  if (!row.score) return <span className="text-ink-soft">{row.error ? row.error.code : "no score"}</span>;
  const { value, low, high } = row.score.retention;
  return (
    <span className="tabular-nums">
      <span className="font-semibold">{share(value)}</span>{" "}
      <span className="text-[0.75rem] whitespace-nowrap text-ink-soft">
        {share(low)} to {share(high)}
      </span>
    </span>
  );
}
