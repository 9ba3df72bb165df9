"use client";

import { useRouter } from "next/navigation";
import { QueryTable } from "../../api/query-table";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import type { Column, Filter } from "../../ui/data-table";
import { plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { best, highestClean, targetWords } from "./ladder-words";
import { type Recorded, useLadders } from "./use-ladders";

const COLUMNS: Column<Recorded>[] = [
  {
    id: "recorded",
    name: "Recorded",
    value: (row) => row.createdAt,
    cell: (row) => <TimeAgo at={row.createdAt} />,
  },
  {
    id: "gateway",
    name: "Node",
    value: (row) => row.node?.name ?? row.result.gateway,
  },
  {
    id: "model",
    name: "Asked",
    value: (row) => row.result.model,
    cell: (row) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {row.result.model}
        {row.result.development ? <Badge tone="warn">development</Badge> : null}
      </span>
    ),
  },
  {
    id: "clean",
    name: "All correct up to",
    value: (row) => highestClean(row.result),
    cell: (row) => {
      const clients = highestClean(row.result);
      return clients === null ? "no rung" : plural(clients, "client");
    },
  },
  {
    id: "best",
    name: "Most correct/s",
    value: (row) => Number(best(row.result).rate.toFixed(2)),
    cell: (row) => (
      <>
        {best(row.result).rate.toFixed(1)}{" "}
        <span className="text-ink-soft">at {plural(best(row.result).clients, "client")}</span>
      </>
    ),
  },
  { id: "targets", name: "Targets", value: (row) => targetWords(row.result) },
  {
    id: "end",
    name: "End",
    value: (row) => row.result.stopped?.rule ?? "stood",
    cell: (row) =>
      row.result.stopped ? (
        <Badge tone="warn">{row.result.stopped.rule}</Badge>
      ) : (
        <Badge tone="good">every rung stood</Badge>
      ),
  },
  { id: "by", name: "By", value: (row) => row.recordedBy },
];

const FILTERS: Filter<Recorded>[] = [
  {
    key: "end",
    name: "End",
    options: [
      { value: "stood", name: "every rung stood" },
      { value: "stopped", name: "stopped by a rule" },
    ],
    matches: (row, value) => (row.result.stopped !== null) === (value === "stopped"),
  },
];

export function LaddersPage() {
  const ladders = useLadders();
  const router = useRouter();
  return (
    <>
      <PageHeader
        title="Ladders"
        lead="How many clients at once a node stands. Each rung doubles them, and every answer is checked against what the model says when it is asked alone; only complete and correct answers count."
      />
      <Card>
        <QueryTable
          query={ladders}
          what="ladders"
          caption="Ladders"
          columns={COLUMNS}
          rowId={(row) => row.id}
          href={(row) => `/ladders/${row.id}`}
          filters={FILTERS}
          search="Search ladders"
          csv="helm-ladders"
          select={{
            name: (row) => `Ladder of ${row.result.model}, ${row.createdAt.toISOString()}`,
            most: 2,
            actions: ([first, second]) => (
              <Button
                size="small"
                disabled={!first || !second}
                title={second ? undefined : "Choose two"}
                onClick={() => first && second && router.push(`/ladders/${first.id}?with=${second.id}`)}
              >
                Compare
              </Button>
            ),
          }}
          empty={
            <Empty title="No ladder yet" command={command.ladder()}>
              A ladder is run from a terminal against a node's gateway, with a tenant's key in
              LIFEBOAT_API_KEY, and recorded here. Write targets down before the run.
            </Empty>
          }
        />
      </Card>
      <Terminal commands={[command.ladder(), command.ladder("64=20")]} />
    </>
  );
}
