"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { PagedTable } from "../../api/query-table";
import { useTRPC, useTRPCClient } from "../../api/trpc";
import { Card, PageHeader } from "../../ui/card";
import type { Filter } from "../../ui/data-table";
import { useListState } from "../../ui/list-state";
import { Empty } from "../../ui/states";
import { AUDIT_COLUMNS, type AuditRow } from "./audit-row";
import { ENTITIES, VERBS } from "./filters";

const PAGE = 50;
const EXPORT_PAGE = 200;

const FILTERS: Filter<AuditRow>[] = [
  { key: "entity", name: "Entity", options: ENTITIES },
  { key: "verb", name: "Action", options: VERBS },
];
const FILTER_KEYS = FILTERS.map(({ key }) => key);

export function AuditPage() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { values } = useListState(FILTER_KEYS);
  const wanted = { entity: values.entity || undefined, verb: values.verb || undefined };
  const log = useInfiniteQuery(
    trpc.audit.list.infiniteQueryOptions(
      { limit: PAGE, ...wanted },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  return (
    <>
      <PageHeader
        title="Audit"
        lead="Who changed what, and when. A row is written in the same transaction as the change."
      />
      <Card>
        <PagedTable
          query={log}
          page={(cursor) => client.audit.list.query({ limit: EXPORT_PAGE, cursor, ...wanted })}
          caption="Audit entries, newest first"
          what="entries"
          columns={AUDIT_COLUMNS}
          rowId={(row) => row.id}
          filters={FILTERS}
          csv="helm-audit"
          empty={<Empty title="Nothing was changed yet">The first change, by anybody, stands here.</Empty>}
        />
      </Card>
    </>
  );
}
