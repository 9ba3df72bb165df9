"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { QueryView } from "../../api/query-view";
import { tellProblem } from "../../api/tell";
import { useTRPC, useTRPCClient } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import { SelectField } from "../../ui/field";
import { Empty, FilteredEmpty } from "../../ui/states";
import { Table, Th } from "../../ui/table";
import { type AuditRow, AuditTableRow } from "./audit-row";
import { download, toCsv } from "./csv";
import { ENTITIES, useAuditFilters, VERBS } from "./filters";

const PAGE = 50;

export function AuditPage() {
  const trpc = useTRPC();
  const [filters, setFilters] = useAuditFilters();
  const wanted = { entity: filters.entity || undefined, verb: filters.verb || undefined };
  const log = useInfiniteQuery(
    trpc.audit.list.infiniteQueryOptions(
      { limit: PAGE, ...wanted },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  const filtered = Boolean(filters.entity || filters.verb);
  const clear = () => void setFilters({ entity: null, verb: null });
  return (
    <>
      <PageHeader
        title="Audit"
        lead="Who changed what, and when. A row is written in the same transaction as the change."
        actions={<ExportCsv wanted={wanted} />}
      />
      <Card>
        <div className="mb-3 flex flex-wrap items-end gap-3">
          <Filter
            label="Entity"
            value={filters.entity}
            options={ENTITIES}
            onChange={(entity) => void setFilters({ entity: entity || null })}
          />
          <Filter
            label="Action"
            value={filters.verb}
            options={VERBS}
            onChange={(verb) => void setFilters({ verb: verb || null })}
          />
          {filtered ? <Button onClick={clear}>Clear filters</Button> : null}
        </div>
        <QueryView query={log} label="Loading the audit" rows={6}>
          {({ pages }) => {
            const rows = pages.flatMap((page) => page.rows);
            if (rows.length === 0) {
              return filtered ? (
                <FilteredEmpty what="entries" onClear={clear} />
              ) : (
                <Empty title="Nothing was changed yet">The first change, by anybody, stands here.</Empty>
              );
            }
            return (
              <>
                <Table
                  caption="Audit entries, newest first"
                  head={
                    <>
                      <Th>When</Th>
                      <Th>Who</Th>
                      <Th>What</Th>
                      <Th>Before and after</Th>
                    </>
                  }
                >
                  {rows.map((row) => (
                    <AuditTableRow key={row.id} row={row} />
                  ))}
                </Table>
                {log.hasNextPage ? (
                  <div className="mt-3">
                    <Button busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
                      Show older entries
                    </Button>
                  </div>
                ) : null}
              </>
            );
          }}
        </QueryView>
      </Card>
    </>
  );
}

function Filter({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: string[];
  onChange: (value: string) => void;
}) {
  return (
    <div className="w-full sm:w-56">
      <SelectField label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">All</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
        {value && !options.includes(value) ? <option>{value}</option> : null}
      </SelectField>
    </div>
  );
}

/** Reads the whole filtered set, page by page, not only what is on screen. */
function ExportCsv({ wanted }: { wanted: { entity?: string; verb?: string } }) {
  const client = useTRPCClient();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      const rows: AuditRow[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.audit.list.query({ limit: 200, cursor, ...wanted });
        rows.push(...page.rows);
        cursor = page.nextCursor ?? undefined;
      } while (cursor);
      const head = [
        "at",
        "actor_kind",
        "actor",
        "verb",
        "entity",
        "entity_id",
        "before",
        "after",
        "reason",
        "request_id",
      ];
      const body = rows.map((row) => [
        row.at.toISOString(),
        row.actorKind,
        row.actorName,
        row.verb,
        row.entity,
        row.entityId,
        JSON.stringify(row.before) ?? "",
        JSON.stringify(row.after) ?? "",
        row.reason,
        row.requestId,
      ]);
      download("helm-audit.csv", toCsv(head, body));
    } catch (error) {
      tellProblem("The export did not complete", error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button busy={busy} onClick={() => void run()}>
      <Download aria-hidden="true" className="size-4" />
      CSV
    </Button>
  );
}
