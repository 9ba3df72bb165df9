"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { QueryTable } from "../../api/query-table";
import { useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import { useListState } from "../../ui/list-state";
import { type RunRow, runColumnsOf } from "../calibrations/run-columns";
import { CompareCard } from "./compare-card";
import type { Pair } from "./pair-words";

const LIST = "runs";
const MOST = 6;

/** Every run of the pair; the chosen ones are compared below, and both are in the address. */
export function RunsCard({ pair }: { pair: Pair }) {
  const trpc = useTRPC();
  const runs = useQuery(trpc.calibration.list.queryOptions({ pairId: pair.id, limit: 100 }));
  const activeRun = pair.active?.calibrationId ?? null;
  const columns = useMemo(() => runColumnsOf(activeRun), [activeRun]);
  const { selected } = useListState([], LIST);
  return (
    <>
      <Card
        title="Calibrations"
        hint={
          pair.attempts > 1
            ? `Every run of this pair; it has had ${pair.attempts}. Choose up to ${MOST} to compare them.`
            : undefined
        }
      >
        <QueryTable
          id={LIST}
          query={{ ...runs, data: runs.data?.rows }}
          caption="Calibrations of this pair, newest first"
          what="calibrations"
          columns={columns}
          rowId={(row: RunRow) => row.id}
          href={(row) => `/calibrations/${row.id}`}
          csv="helm-pair-calibrations"
          select={{
            name: (row) => `${row.method}, k ${row.k}`,
            most: MOST,
            actions: () => "Compared below.",
          }}
          empty={<p className="text-ink-soft">No run yet.</p>}
        />
      </Card>
      {runs.data ? <CompareCard rows={runs.data.rows} chosen={selected} activeRun={activeRun} /> : null}
    </>
  );
}
