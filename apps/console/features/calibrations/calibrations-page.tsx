"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import Link from "next/link";
import { parseAsStringEnum, useQueryState } from "nuqs";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Button, ButtonLink } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import { SelectField } from "../../ui/field";
import { Empty, FilteredEmpty } from "../../ui/states";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { useCalibrateCommand } from "../shell/use-calibrate-command";
import { RunTable } from "./run-table";

const SHOW = ["open", "cleared", "below", "ended"] as const;
type Show = (typeof SHOW)[number];

export function CalibrationsPage() {
  const calibrate = useCalibrateCommand();
  const trpc = useTRPC();
  const [show, setShow] = useQueryState(
    "show",
    parseAsStringEnum<Show>([...SHOW]).withOptions({ history: "push" }),
  );
  const runs = useInfiniteQuery(
    trpc.calibration.list.infiniteQueryOptions(
      { limit: 50 },
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
        <div className="mb-3 w-full sm:w-56">
          <SelectField
            label="Show"
            value={show ?? ""}
            onChange={(event) => void setShow(SHOW.find((value) => value === event.target.value) ?? null)}
          >
            <option value="">All runs</option>
            <option value="open">Queued or running</option>
            <option value="cleared">Cleared the gate</option>
            <option value="below">Below the gate</option>
            <option value="ended">Failed, cancelled or lost</option>
          </SelectField>
        </div>
        <QueryView query={runs} label="Loading calibrations" rows={5}>
          {({ pages }) => {
            const all = pages.flatMap((page) => page.rows);
            const rows = all.filter((row) => matches(row, show));
            return (
              <>
                {all.length === 0 ? (
                  <Empty title="Nothing was calibrated yet" command={calibrate("pilot", "target")}>
                    Choose{" "}
                    <Link href="/pairs" className="underline underline-offset-4">
                      a pair
                    </Link>{" "}
                    and calibrate it.
                  </Empty>
                ) : rows.length === 0 ? (
                  <FilteredEmpty what="runs" onClear={() => void setShow(null)} />
                ) : (
                  <RunTable rows={rows} />
                )}
                {runs.hasNextPage ? (
                  <Button
                    className="mt-3 self-start"
                    busy={runs.isFetchingNextPage}
                    onClick={() => void runs.fetchNextPage()}
                  >
                    Show older runs
                  </Button>
                ) : null}
              </>
            );
          }}
        </QueryView>
      </Card>
      <Terminal commands={[command.calibrations, calibrate("pilot", "target")]} />
    </>
  );
}

function matches(row: { state: string; verdict: string | null }, show: Show | null): boolean {
  switch (show) {
    case null:
      return true;
    case "open":
      return row.state === "QUEUED" || row.state === "RUNNING";
    case "cleared":
      return row.verdict === "CLEARED";
    case "below":
      return row.verdict === "BELOW_GATE";
    case "ended":
      return row.state === "FAILED" || row.state === "CANCELLED" || row.state === "LOST";
  }
}
