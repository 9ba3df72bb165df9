"use client";

import { auditWords } from "@helm/contracts";
import { ChevronRight } from "lucide-react";
import Link from "next/link";
import type { Outputs } from "../../api/trpc";
import type { Column } from "../../ui/data-table";
import { Moment } from "../preferences/time";
import { Change } from "./change";

export type AuditRow = Outputs["audit"]["list"]["rows"][number];

const json = (value: unknown) => (value === null || value === undefined ? "" : JSON.stringify(value));

export const AUDIT_COLUMNS: Column<AuditRow>[] = [
  {
    id: "at",
    name: "When",
    value: (row) => row.at,
    cell: (row) => <Moment at={row.at} />,
    csv: { at: (row) => row.at },
    className: "align-top @3xl:w-36",
  },
  {
    id: "actor",
    name: "Who",
    value: (row) => row.actorName,
    cell: (row) => (
      <span className="[overflow-wrap:anywhere]">
        {row.actorName}
        {row.actorKind === "person" ? null : <span className="text-ink-soft"> ({row.actorKind})</span>}
      </span>
    ),
    csv: { actor_kind: (row) => row.actorKind, actor: (row) => row.actorName },
    className: "align-top @3xl:w-44",
  },
  {
    id: "verb",
    name: "What",
    value: (row) => row.verb,
    cell: (row) => <What row={row} />,
    csv: { verb: (row) => row.verb, entity: (row) => row.entity, entity_id: (row) => row.entityId },
    className: "align-top @3xl:w-56",
  },
  {
    id: "change",
    name: "Before and after",
    value: (row) => json(row.after),
    cell: (row) => (
      <>
        {/* In a card it would push the next rows off the screen: there it stands in the details. */}
        <div className="@max-3xl:hidden">
          <Change before={row.before} after={row.after} />
        </div>
        {row.reason ? <p className="mt-1">{row.reason}</p> : null}
        <Details row={row} />
      </>
    ),
    csv: {
      before: (row) => json(row.before),
      after: (row) => json(row.after),
      reason: (row) => row.reason,
      request_id: (row) => row.requestId,
    },
    className: "align-top",
  },
];

/** The page of the thing, where there is one. */
const PAGE_OF: Record<string, (id: string) => string> = {
  pair: (id) => `/pairs/${id}`,
  calibration: (id) => `/calibrations/${id}`,
  tenant: (id) => `/tenants/${id}`,
  node: (id) => `/nodes/${id}`,
  snapshot: () => "/routing",
};

function What({ row }: { row: AuditRow }) {
  const short = row.entityId.length > 13 ? `...${row.entityId.slice(-8)}` : row.entityId;
  const href = PAGE_OF[row.entity]?.(row.entityId);
  const thing = (
    <>
      {row.entity} {short}
    </>
  );
  return (
    <>
      <span className="[overflow-wrap:anywhere]">{auditWords(row.verb)}</span>
      <div className="font-mono text-[0.75rem] text-ink-soft [overflow-wrap:anywhere]">
        {href ? (
          <Link href={href} className="underline underline-offset-4 hover:text-ink">
            {thing}
          </Link>
        ) : (
          thing
        )}
      </div>
    </>
  );
}

/** Ids in full, and both sides as they are stored. */
function Details({ row }: { row: AuditRow }) {
  const sides = [
    ["Before", row.before],
    ["After", row.after],
  ] as const;
  return (
    <details className="group mt-1 text-[0.8125rem]">
      <summary className="inline-flex min-h-6 items-center gap-1 rounded text-ink-soft underline-offset-4 hover:underline">
        <ChevronRight aria-hidden="true" className="size-3.5 group-open:rotate-90" />
        Details
        <span className="sr-only">
          : {row.actorName} {auditWords(row.verb)}
        </span>
      </summary>
      <div className="mt-1 @3xl:hidden">
        <Change before={row.before} after={row.after} />
      </div>
      <dl className="mt-1 space-y-1">
        <div>
          <dt className="inline text-ink-soft">Verb </dt>
          <dd className="inline font-mono [overflow-wrap:anywhere]">{row.verb}</dd>
        </div>
        <div>
          <dt className="inline text-ink-soft">Request </dt>
          <dd className="inline font-mono [overflow-wrap:anywhere]">
            <Link href={`/audit?request=${row.requestId}`} className="underline underline-offset-4">
              {row.requestId}
            </Link>
          </dd>
        </div>
        <div>
          <dt className="inline text-ink-soft">{row.entity} </dt>
          <dd className="inline font-mono [overflow-wrap:anywhere]">
            <Link
              href={`/audit?entity=${encodeURIComponent(row.entity)}&thing=${encodeURIComponent(row.entityId)}`}
              className="underline underline-offset-4"
            >
              {row.entityId}
            </Link>
          </dd>
        </div>
        {sides.map(([name, value]) =>
          value === null || value === undefined ? null : (
            <div key={name}>
              <dt className="text-ink-soft">{name}</dt>
              <dd>
                <pre className="rounded-lg bg-panel p-2 font-mono text-[0.75rem] [overflow-wrap:anywhere] whitespace-pre-wrap">
                  {JSON.stringify(value, null, 2)}
                </pre>
              </dd>
            </div>
          ),
        )}
      </dl>
    </details>
  );
}
