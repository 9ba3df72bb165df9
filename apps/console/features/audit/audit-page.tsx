"use client";

import { auditWords } from "@helm/contracts";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { PagedTable } from "../../api/query-table";
import { useTRPC, useTRPCClient } from "../../api/trpc";
import { ButtonLink } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import type { Filter } from "../../ui/data-table";
import { useListState } from "../../ui/list-state";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { AUDIT_COLUMNS, type AuditRow } from "./audit-columns";
import { ACTOR_KINDS, auditFlags, wantedOf } from "./wanted";

const PAGE = 25;
const EXPORT_PAGE = 500;
const FILTER_KEYS = ["by", "actor", "verb", "entity", "since", "until", "thing", "request"];

export function AuditPage() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { values } = useListState(FILTER_KEYS);
  const wanted = wantedOf(values);
  const filters = useAuditFilters(values);
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
        lead="Who changed what, when and why. A row is written in the same transaction as the change, so there is none without the other."
        actions={
          <>
            {values.by === "person" ? (
              <ButtonLink href="/audit">Everybody's</ButtonLink>
            ) : (
              <ButtonLink href="/audit?by=person">People only</ButtonLink>
            )}
            <ButtonLink href="/audit?verb=pair.refused">Refused registrations</ButtonLink>
          </>
        }
      />
      <Card>
        <PagedTable
          query={log}
          page={(cursor) => client.audit.list.query({ limit: EXPORT_PAGE, cursor, ...wanted })}
          caption="Audit entries, newest first"
          what="entries"
          columns={AUDIT_COLUMNS}
          rowId={(row) => row.id}
          filters={filters}
          csv="helm-audit"
          empty={
            <Empty title="Nothing was changed yet" command={command.audit()}>
              The first change, by anybody, stands here: register a pair, create a tenant or turn Helm on.
            </Empty>
          }
        />
      </Card>
      <Terminal
        commands={[command.audit(auditFlags(values)), command.audit(`${auditFlags(values)} --follow`)]}
      />
    </>
  );
}

/** What stands in the audit is what can be chosen; the two that only links set show while they are set. */
function useAuditFilters(values: Record<string, string>): Filter<AuditRow>[] {
  const trpc = useTRPC();
  const known = useQuery(trpc.audit.values.queryOptions(undefined, { staleTime: 60_000 })).data;
  const { thing, request } = values;
  return useMemo(
    () => [
      { key: "by", name: "By", options: ACTOR_KINDS },
      { key: "actor", name: "Who", options: known?.actors ?? [] },
      {
        key: "verb",
        name: "Action",
        options: (known?.verbs ?? []).map((verb) => ({ value: verb, name: auditWords(verb) })),
      },
      { key: "entity", name: "Kind of thing", options: known?.entities ?? [] },
      { key: "since", name: "From (UTC)", kind: "date" },
      { key: "until", name: "To (UTC)", kind: "date" },
      ...(thing ? [{ key: "thing", name: "Id of the thing" }] : []),
      ...(request ? [{ key: "request", name: "Request id" }] : []),
    ],
    [known, thing, request],
  );
}
