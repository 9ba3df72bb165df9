"use client";

import Link from "next/link";
import { QueryView } from "../../api/query-view";
import { ChartFrame } from "../../ui/chart-frame";
import { type Column, DataTable, type Filter } from "../../ui/data-table";
import { bytes, count, percent } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { KIND_WORDS, reasonWords, requestsHref } from "./traffic-words";
import { type Reason, type TrafficRange, useReasons } from "./use-traffic";

const MOST_BARS = 8;

const COLUMNS: Column<Reason>[] = [
  { id: "reason", name: "Reason", value: (row) => row.reason },
  { id: "kind", name: "Kind", value: (row) => KIND_WORDS[row.kind] },
  { id: "requests", name: "Requests", value: (row) => row.requests, cell: (row) => count(row.requests) },
  { id: "share", name: "Of its kind", value: (row) => row.share, cell: (row) => percent(row.share) },
  {
    id: "shortfall",
    name: "Missing in the mean",
    value: (row) => row.shortfallBytesMean,
    cell: (row) => (row.shortfallBytesMean === null ? null : bytes(row.shortfallBytesMean)),
  },
];

const FILTERS: Filter<Reason>[] = [
  {
    key: "kind",
    name: "Kind",
    options: Object.entries(KIND_WORDS).map(([value, name]) => ({ value, name })),
    matches: (row, value) => row.kind === value,
  },
];

/** Why a transfer was not used, and what had no answer: each leads to its requests. */
export function ReasonsCard({ range }: { range: TrafficRange }) {
  const reasons = useReasons(range);
  return (
    <QueryView query={reasons} label="Loading the reasons" rows={4}>
      {({ rows }) => {
        const told = rows.filter(({ kind }) => kind !== "decision");
        const none = (
          <Empty title="Nothing went another way">
            In this range every escalation that wanted a transfer had one, nobody was turned away, and nothing
            failed.
          </Empty>
        );
        return (
          <ChartFrame
            title="Why a transfer was not used, refusals and errors"
            hint="Each reason leads to its sampled requests."
            chart={told.length === 0 ? none : <Bars rows={told} range={range} />}
            table={
              <DataTable
                id="reasons"
                caption="Reasons"
                what="reasons"
                rows={rows}
                columns={COLUMNS}
                rowId={(row) => `${row.kind}-${row.reason}`}
                href={(row) => requestsHref(range, { reason: row.reason })}
                filters={FILTERS}
                csv="helm-traffic-reasons"
                empty={none}
              />
            }
          />
        );
      }}
    </QueryView>
  );
}

function Bars({ rows, range }: { rows: Reason[]; range: TrafficRange }) {
  const most = Math.max(...rows.map(({ requests }) => requests));
  return (
    <ul className="space-y-2.5">
      {rows.slice(0, MOST_BARS).map((row) => (
        <li key={`${row.kind}-${row.reason}`}>
          <div className="flex flex-wrap items-baseline justify-between gap-x-3">
            <Link
              href={requestsHref(range, { reason: row.reason })}
              className="inline-flex min-h-6 items-center font-mono text-[0.8125rem] font-semibold underline underline-offset-4 [overflow-wrap:anywhere]"
            >
              {row.reason}
            </Link>
            <span className="tabular-nums">
              {count(row.requests)} <span className="text-ink-soft">{KIND_WORDS[row.kind]}</span>
            </span>
          </div>
          <div aria-hidden="true" className="mt-0.5 h-2 rounded bg-track">
            <div
              className={row.kind === "fallback" ? "h-2 rounded bg-warn" : "h-2 rounded bg-bad"}
              style={{ width: `${Math.max(1, (row.requests / most) * 100)}%` }}
            />
          </div>
          <p className="mt-0.5 text-[0.8125rem] text-ink-soft">
            {reasonWords(row.reason)}
            {row.shortfallBytesMean === null ? "" : `; ${bytes(row.shortfallBytesMean)} missing in the mean`}
          </p>
        </li>
      ))}
    </ul>
  );
}
