"use client";

import Link from "next/link";
import type { Outputs } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { share } from "../../ui/numbers";
import { Table, Td, Th, Tr } from "../../ui/table";
import { TimeAgo } from "../preferences/time";
import { RunProgress } from "./run-progress";
import { isOpen } from "./run-states";
import { RunState, VerdictBadge } from "./state-badge";

export type RunRow = Outputs["calibration"]["list"]["rows"][number];

/** `mapperState` says of a run's mapper whether it is the one in use; without `pairs` the pair's column is left out. */
export function RunTable({
  rows,
  pairs = true,
  activeRun,
}: {
  rows: RunRow[];
  pairs?: boolean;
  activeRun?: string | null;
}) {
  return (
    <Table
      caption="Calibrations, newest first"
      head={
        <>
          <Th>Started</Th>
          {pairs ? <Th>Pair</Th> : null}
          <Th>State</Th>
          <Th>Retention</Th>
          <Th>Method</Th>
          <Th>Device</Th>
          <Th>By</Th>
        </>
      }
    >
      {rows.map((row) => (
        <Tr key={row.id}>
          <Td label="Started">
            <Link href={`/calibrations/${row.id}`} className="font-medium underline-offset-4 hover:underline">
              <TimeAgo at={row.createdAt} />
              <span className="sr-only">: open this run</span>
            </Link>
          </Td>
          {pairs ? (
            <Td label="Pair">
              <Link href={`/pairs/${row.pairId}`} className="underline-offset-4 hover:underline">
                {row.sourceModel} <span className="text-ink-soft">to</span> {row.targetModel}
              </Link>
            </Td>
          ) : null}
          <Td label="State">
            <span className="inline-flex flex-wrap gap-1">
              <RunState state={row.state} />
              <VerdictBadge verdict={row.verdict} />
              {activeRun === row.id ? (
                <Badge tone="accent" shape="dot">
                  active mapper
                </Badge>
              ) : null}
            </span>
          </Td>
          <Td label="Retention" className="min-w-44">
            {isOpen(row.state) ? (
              <RunProgress id={row.id} label={`Calibration of ${row.pairName}`} />
            ) : row.score ? (
              <span className="tabular-nums">
                <span className="font-semibold">{share(row.score.retention.value)}</span>{" "}
                <span className="text-[0.75rem] text-ink-soft">
                  {share(row.score.retention.low)} to {share(row.score.retention.high)}
                </span>
              </span>
            ) : (
              <span className="text-ink-soft">{row.error ? row.error.code : "no score"}</span>
            )}
          </Td>
          <Td label="Method">
            {row.method}, k {row.k}
          </Td>
          <Td label="Device">{row.device}</Td>
          <Td label="By" className="break-all">
            {row.imported ? `${row.startedBy} (imported)` : row.startedBy}
          </Td>
        </Tr>
      ))}
    </Table>
  );
}
