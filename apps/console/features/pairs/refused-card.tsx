"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import Link from "next/link";
import { QueryView } from "../../api/query-view";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { TimeAgo } from "../preferences/time";
import { CauseList } from "./cause-list";

type Registration = Outputs["pair"]["registrations"]["rows"][number];

/** What was asked to be a pair and is none, with every cause: it stands in the audit and not among the pairs. */
export function RefusedCard() {
  const trpc = useTRPC();
  const found = useInfiniteQuery(
    trpc.pair.registrations.infiniteQueryOptions(
      { limit: 10 },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  return (
    <Card
      title="Registrations that became no pair"
      hint={
        <>
          Refused with all causes, or not read. The{" "}
          <Link href="/audit?entity=registration" className="underline underline-offset-4">
            audit
          </Link>{" "}
          has each decision.
        </>
      }
    >
      <QueryView query={found} label="Loading registrations" rows={2}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.rows);
          return rows.length === 0 ? (
            <p className="text-ink-soft">None: every pair that was asked for could be registered.</p>
          ) : (
            <>
              <ul className="divide-y divide-line">
                {rows.map((row) => (
                  <Refused key={row.id} row={row} />
                ))}
              </ul>
              {found.hasNextPage ? (
                <Button
                  className="mt-3 self-start"
                  busy={found.isFetchingNextPage}
                  onClick={() => void found.fetchNextPage()}
                >
                  Show older ones
                </Button>
              ) : null}
            </>
          );
        }}
      </QueryView>
    </Card>
  );
}

const LOOK = {
  REFUSED: { tone: "bad", shape: "slash" },
  FAILED: { tone: "warn", shape: "alert" },
  PENDING: { tone: "busy", shape: "spin" },
  REGISTERED: { tone: "good", shape: "check" },
} as const;

function Refused({ row }: { row: Registration }) {
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="font-medium break-words">
          {row.sourceModel} <span className="font-normal text-ink-soft">to</span> {row.targetModel}
        </span>
        <Badge {...LOOK[row.state]}>{row.state}</Badge>
        <span className="text-[0.8125rem] text-ink-soft">
          asked by {row.requestedBy}, <TimeAgo at={row.createdAt} />
        </span>
      </div>
      {row.causes.length > 0 ? (
        <CauseList causes={row.causes} />
      ) : row.message ? (
        <p className="mt-1 text-[0.8125rem] text-ink-soft">{row.message}</p>
      ) : row.state === "PENDING" ? (
        <p className="mt-1 text-[0.8125rem] text-ink-soft">A worker has still to read the models.</p>
      ) : null}
    </li>
  );
}
