"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useMemo } from "react";
import { PagedTable } from "../../api/query-table";
import { useTRPC, useTRPCClient } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import type { Column } from "../../ui/data-table";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { AckStrip } from "./ack-strip";
import { Rollback } from "./rollback-dialog";
import { answersTo, causeWords, type RoutingState, type Snapshot } from "./snapshot-words";
import { useCompared } from "./use-compared";

const text = <T extends { nextCursor: number | null }>(page: T) => ({
  ...page,
  nextCursor: page.nextCursor === null ? null : String(page.nextCursor),
});

export function HistoryCard({ state }: { state: RoutingState }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { compare } = useCompared();
  const history = useInfiniteQuery(
    trpc.snapshot.list.infiniteQueryOptions(
      { limit: 25 },
      {
        getNextPageParam: (page) => page.nextCursor ?? undefined,
        select: (data) => ({ ...data, pages: data.pages.map(text) }),
      },
    ),
  );
  const columns = useMemo(() => columnsFor(state), [state]);
  return (
    <Card
      title="History"
      hint="Every generation that nodes were sent, by whom and why. Choose two to compare them."
    >
      <PagedTable
        query={history}
        page={async (cursor) =>
          text(await client.snapshot.list.query({ limit: 200, cursor: cursor ? Number(cursor) : undefined }))
        }
        what="generations"
        caption="Generations of the routing configuration, newest first"
        columns={columns}
        rowId={(row) => String(row.generation)}
        csv="helm-routing"
        select={{
          name: (row) => `generation ${row.generation}`,
          most: 2,
          actions: (rows, clear) => (
            <Button
              size="small"
              kind="primary"
              blockedBecause={rows.length === 2 ? null : "Choose a second generation."}
              onClick={() => {
                const [older = 0, newer = 0] = rows.map((row) => row.generation).sort((a, b) => a - b);
                clear();
                compare(older, newer);
              }}
            >
              Compare
            </Button>
          ),
        }}
        empty={
          <Empty title="Nothing was published yet" command={command.snapshots}>
            The first generation is written when the control plane starts.
          </Empty>
        }
      />
    </Card>
  );
}

/** A warning only while it holds: afterwards it says what was. */
function HeldBadge({ at, now }: { at: number; now: boolean }) {
  return now ? (
    <Badge tone="warn" shape="alert">
      Held at {at}
    </Badge>
  ) : (
    <Badge>Was held at {at}</Badge>
  );
}

type Csv = Record<string, (row: Snapshot) => string | number | null>;

const names = (row: Snapshot, taken: boolean) =>
  row.acks
    .filter(({ ok }) => ok === taken)
    .map(({ node }) => node)
    .join(" ");
const GENERATION_CSV: Csv = {
  generation: (row) => row.generation,
  "held at": (row) => row.rolledBackTo,
};
const WHY_CSV: Csv = {
  why: causeWords,
  note: (row) => row.note,
  "request id": (row) => row.requestId,
  sha256: (row) => row.sha256,
};
const ACKS_CSV: Csv = {
  acked: (row) => names(row, true),
  refused: (row) => names(row, false),
};

function columnsFor({ generation: newest, nodes, hold }: RoutingState): Column<Snapshot>[] {
  return [
    {
      id: "generation",
      name: "Generation",
      value: (row) => row.generation,
      cell: (row) => (
        <span className="inline-flex flex-wrap items-center gap-1.5">
          <Link
            href={`/routing?from=${Math.max(1, row.generation - 1)}&to=${row.generation}#compare`}
            className="font-medium tabular-nums underline underline-offset-4"
          >
            {row.generation}
          </Link>
          {row.generation === newest ? (
            <Badge tone="good" shape="check">
              In force
            </Badge>
          ) : null}
          {row.rolledBackTo === null ? null : (
            <HeldBadge at={row.rolledBackTo} now={row.generation === newest && hold !== null} />
          )}
        </span>
      ),
      csv: GENERATION_CSV,
    },
    {
      id: "at",
      name: "When",
      value: (row) => row.createdAt,
      cell: (row) => <TimeAgo at={row.createdAt} />,
    },
    {
      id: "by",
      name: "Who",
      value: (row) => row.actor?.name ?? null,
      cell: (row) => row.actor?.name ?? <span className="text-ink-soft">not kept</span>,
    },
    {
      id: "why",
      name: "Why",
      value: causeWords,
      cell: (row) => (
        <>
          {causeWords(row)}
          {row.note ? <span className="block text-ink-soft">{row.note}</span> : null}
        </>
      ),
      csv: WHY_CSV,
    },
    {
      id: "acks",
      name: "Nodes",
      value: (row) => names(row, true),
      // Who has joined later never was sent an old generation: silence is shown of the one in force alone.
      cell: (row) => <AckStrip answers={answersTo(row.acks, row.generation === newest ? nodes : [])} />,
      csv: ACKS_CSV,
    },
    {
      id: "action",
      name: "Action",
      className: "@3xl:text-right",
      cell: (row) =>
        row.generation === newest || row.generation === hold?.generation ? null : (
          <Rollback generation={row.generation} newest={newest} />
        ),
    },
  ];
}
