"use client";

import { CalibrationState, Verdict } from "@helm/contracts";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useMemo } from "react";
import { PagedTable } from "../../api/query-table";
import { type Inputs, useTRPC, useTRPCClient } from "../../api/trpc";
import { ButtonLink } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import type { Filter } from "../../ui/data-table";
import { useListState } from "../../ui/list-state";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { useCalibrateCommand } from "../shell/use-calibrate-command";
import { RUN_COLUMNS, type RunRow } from "./run-columns";

const KEYS = ["state", "verdict", "pair", "by", "since", "until"] as const;
type Asked = Omit<NonNullable<Inputs["calibration"]["list"]>, "cursor" | "limit">;

export function CalibrationsPage() {
  const calibrate = useCalibrateCommand();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { values } = useListState(KEYS);
  const asked = useMemo(() => askedOf(values), [values]);
  const pairs = useQuery(trpc.pair.list.queryOptions());
  const starters = useQuery(trpc.calibration.starters.queryOptions());
  const filters = useMemo(
    () => filtersFor(pairs.data ?? [], starters.data ?? []),
    [pairs.data, starters.data],
  );
  const runs = useInfiniteQuery(
    trpc.calibration.list.infiniteQueryOptions(
      { limit: 50, ...asked },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  return (
    <>
      <PageHeader
        title="Calibrations"
        lead="A run fits a mapper for a pair and scores it on probes it never saw. Calibrating works while Helm is off."
        actions={<ButtonLink href="/pairs">Choose a pair to calibrate</ButtonLink>}
      />
      <Card>
        <PagedTable
          query={runs}
          page={(cursor) => client.calibration.list.query({ limit: 100, cursor, ...asked })}
          caption="Calibrations, newest first"
          what="calibrations"
          columns={RUN_COLUMNS}
          rowId={(row: RunRow) => row.id}
          href={(row) => `/calibrations/${row.id}`}
          filters={filters}
          csv="helm-calibrations"
          empty={
            <Empty title="Nothing was calibrated yet" command={calibrate("pilot", "target")}>
              Choose{" "}
              <Link href="/pairs" className="underline underline-offset-4">
                a pair
              </Link>{" "}
              and calibrate it.
            </Empty>
          }
        />
      </Card>
      <Terminal commands={[command.calibrations, calibrate("pilot", "target")]} />
    </>
  );
}

/** What the server filters by; a day that cannot be read asks for nothing. */
function askedOf(values: Record<string, string>): Asked {
  const day = (text: string | undefined, days: number) => {
    const at = text ? new Date(`${text}T00:00:00Z`).getTime() : Number.NaN;
    return Number.isNaN(at) ? undefined : new Date(at + days * 86_400_000);
  };
  const state = CalibrationState.safeParse(values.state);
  const verdict = Verdict.safeParse(values.verdict);
  return {
    states: state.success ? [state.data] : values.state === "open" ? ["QUEUED", "RUNNING"] : undefined,
    verdict: verdict.success ? verdict.data : undefined,
    pairId: /^[0-9a-f-]{36}$/i.test(values.pair ?? "") ? values.pair : undefined,
    startedBy: values.by || undefined,
    since: day(values.since, 0),
    // The day itself is meant too.
    until: day(values.until, 1),
  };
}

function filtersFor(pairs: { id: string; name: string }[], starters: string[]): Filter<RunRow>[] {
  return [
    {
      key: "state",
      name: "State",
      options: [{ value: "open", name: "queued or running" }, ...CalibrationState.options],
    },
    { key: "verdict", name: "Verdict", options: Verdict.options },
    { key: "pair", name: "Pair", options: pairs.map(({ id, name }) => ({ value: id, name })) },
    { key: "by", name: "Started by", options: starters },
    { key: "since", name: "From (UTC)", kind: "date" },
    { key: "until", name: "To (UTC)", kind: "date" },
  ];
}
