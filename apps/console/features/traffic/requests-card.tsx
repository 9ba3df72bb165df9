"use client";

import { REQUEST_DECISIONS } from "@helm/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { PagedTable } from "../../api/query-table";
import { type Inputs, useTRPC, useTRPCClient } from "../../api/trpc";
import { Card } from "../../ui/card";
import type { Filter } from "../../ui/data-table";
import { useListState } from "../../ui/list-state";
import { percent } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { REQUEST_COLUMNS } from "./request-columns";
import type { Summary, TraceRow, TrafficRange } from "./use-traffic";

const decisionOption = (value: string) => ({ value, name: value.replaceAll("_", " ") });
const PAGE = 25;
const EXPORT_PAGE = 500;
type Narrowed = Omit<Inputs["traffic"]["requests"], "cursor" | "limit" | "hours">;

const FILTERS: Filter<TraceRow>[] = [
  { key: "decision", name: "Decision", options: REQUEST_DECISIONS.map(decisionOption) },
  { key: "transfer", name: "Transfer", options: ["transferred", "fallback", "none"] },
  {
    key: "kept",
    name: "Sent because",
    options: [
      { value: "fallback", name: "no transfer" },
      { value: "refusal", name: "turned away" },
      { value: "error", name: "an error" },
      { value: "share", name: "random share" },
      { value: "rate", name: "the ordinary rate" },
      { value: "asked", name: "the playground" },
    ],
  },
  { key: "reason", name: "Reason or error", placeholder: "TIMEOUT" },
];
const KEYS = FILTERS.map(({ key }) => key);

/** Sampled requests, newest first; each opens its trace. */
export function RequestsCard({ range, summary }: { range: TrafficRange; summary: Summary }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { values } = useListState(KEYS);
  const narrowed = Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as Narrowed;
  const wanted = { ...range, ...narrowed };
  const requests = useInfiniteQuery(
    trpc.traffic.requests.infiniteQueryOptions(
      { limit: PAGE, ...wanted },
      { getNextPageParam: (page) => page.nextCursor ?? undefined, refetchInterval: 10_000 },
    ),
  );
  const { rate, days, dropped } = summary.traces;
  return (
    <section id="requests" aria-label="Sampled requests" className="scroll-mt-16">
      <Card
        title="Requests"
        hint={`Everything out of the ordinary, errors of callers among it, and ${percent(rate, 0)} of the rest; kept for ${days} days. The figures above count every request whose key was accepted.${dropped > 0 ? ` ${dropped.toLocaleString("en")} traces found no room on their node and are missing here; the counters above hold them.` : ""}`}
      >
        <PagedTable
          query={requests}
          page={(cursor) => client.traffic.requests.query({ limit: EXPORT_PAGE, cursor, ...wanted })}
          caption="Sampled requests, newest first"
          what="requests"
          columns={REQUEST_COLUMNS}
          rowId={(row) => row.id}
          href={(row) => `/traffic/${row.id}`}
          filters={FILTERS}
          csv="helm-requests"
          empty={
            <Empty title="No sampled request in this range" command={command.trafficRequests(range.hours)}>
              Send a request to a route, or ask in the playground: what is asked there is always sampled.
            </Empty>
          }
        />
      </Card>
    </section>
  );
}
