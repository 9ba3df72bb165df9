"use client";

import { Card } from "../../ui/card";
import { type Column, DataTable } from "../../ui/data-table";
import { count } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { pairName } from "../pairs/pair-words";
import { proportionWords, requestsHref } from "./traffic-words";
import type { Summary, TrafficRange } from "./use-traffic";

type Part = Summary["tenants"][number];

function columns(what: string, said = (name: string) => name): Column<Part>[] {
  return [
    { id: "name", name: what, value: (row) => said(row.name) },
    { id: "requests", name: "Requests", value: (row) => row.requests, cell: (row) => count(row.requests) },
    {
      id: "escalated",
      name: "Escalated",
      value: (row) => row.escalation?.share ?? null,
      cell: (row) => {
        const { value, interval } = proportionWords(row.escalation);
        return row.escalation ? (
          <>
            {value} <span className="block text-[0.75rem] text-ink-soft">{interval}</span>
          </>
        ) : (
          <span className="text-ink-soft">nothing judged</span>
        );
      },
      csv: {
        escalation_rate: (row) => row.escalation?.share ?? null,
        escalation_low: (row) => row.escalation?.low ?? null,
        escalation_high: (row) => row.escalation?.high ?? null,
        judged: (row) => row.judged,
      },
    },
    {
      id: "transferred",
      name: "Transferred",
      value: (row) => row.transferred,
      cell: (row) => `${count(row.transferred)} of ${count(row.escalated)}`,
      csv: { transferred: (row) => row.transferred, escalated: (row) => row.escalated },
    },
    {
      id: "fallbacks",
      name: "No transfer",
      value: (row) => row.fallbacks,
      cell: (row) => count(row.fallbacks),
    },
    {
      id: "moved",
      name: "Tokens moved",
      value: (row) => row.tokensMoved,
      cell: (row) => count(row.tokensMoved),
    },
    { id: "refused", name: "Refused", value: (row) => row.refused, cell: (row) => count(row.refused) },
  ];
}

const TENANTS = columns("Tenant");
const PAIRS = columns("Pair", pairName);

export function PartsCards({ summary, range }: { summary: Summary; range: TrafficRange }) {
  const empty = <Empty title="No requests in this range">Choose a longer range, or send a request.</Empty>;
  return (
    <>
      <Card title="By tenant" hint="A tenant leads to its own traffic.">
        <DataTable
          id="tenants"
          caption="Traffic by tenant"
          what="tenants"
          rows={summary.tenants}
          columns={TENANTS}
          rowId={(row) => row.id}
          href={(row) => requestsHref(range, { tenant: row.id }).replace("#requests", "")}
          csv="helm-traffic-tenants"
          pageSize={10}
          empty={empty}
        />
      </Card>
      <Card title="By pair" hint="A pair leads to its own traffic.">
        <DataTable
          id="pairs"
          caption="Traffic by pair"
          what="pairs"
          rows={summary.pairs}
          columns={PAIRS}
          rowId={(row) => row.id}
          href={(row) => requestsHref(range, { pair: row.id }).replace("#requests", "")}
          csv="helm-traffic-pairs"
          pageSize={10}
          empty={empty}
        />
      </Card>
    </>
  );
}
