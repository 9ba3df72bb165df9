"use client";

import type { Outputs } from "../../api/trpc";
import type { Column } from "../../ui/data-table";
import { Moment } from "../preferences/time";

export type AuditRow = Outputs["audit"]["list"]["rows"][number];

export const AUDIT_COLUMNS: Column<AuditRow>[] = [
  {
    id: "at",
    name: "When",
    value: (row) => row.at,
    cell: (row) => <Moment at={row.at} />,
    csv: { at: (row) => row.at },
  },
  {
    id: "actor",
    name: "Who",
    value: (row) => row.actorName,
    cell: (row) => (
      <>
        {row.actorName}
        {row.actorKind === "person" ? null : <span className="text-ink-soft"> ({row.actorKind})</span>}
      </>
    ),
    csv: { actor_kind: (row) => row.actorKind, actor: (row) => row.actorName },
  },
  {
    id: "verb",
    name: "What",
    value: (row) => row.verb,
    cell: (row) => (
      <>
        <code className="font-mono text-[0.8125rem]">{row.verb}</code>
        <div className="font-mono text-[0.75rem] break-all text-ink-soft" title={`Request ${row.requestId}`}>
          {row.entity} {row.entityId.length > 13 ? `...${row.entityId.slice(-8)}` : row.entityId}
        </div>
      </>
    ),
    csv: { verb: (row) => row.verb, entity: (row) => row.entity, entity_id: (row) => row.entityId },
  },
  {
    id: "change",
    name: "Before and after",
    value: (row) => JSON.stringify(row.after),
    cell: (row) => (
      <>
        <Change before={row.before} after={row.after} />
        {row.reason ? <div className="text-ink-soft">{row.reason}</div> : null}
      </>
    ),
    csv: {
      before: (row) => JSON.stringify(row.before),
      after: (row) => JSON.stringify(row.after),
      reason: (row) => row.reason,
      request_id: (row) => row.requestId,
    },
  },
];

/** Only what differs, one field a line. */
function Change({ before, after }: { before: unknown; after: unknown }) {
  const was = fieldsOf(before);
  const is = fieldsOf(after);
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => words(was[name]) !== words(is[name]),
  );
  if (names.length === 0) return <span className="text-ink-soft">no field changed</span>;
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-[0.8125rem]">
      {names.map((name) => (
        <div key={name} className="flex flex-wrap gap-x-1.5">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="[overflow-wrap:anywhere]">
            {name in was ? (
              <>
                <del className="text-ink-soft">{words(was[name])}</del>{" "}
                <span aria-hidden="true">{"\u2192"}</span>{" "}
              </>
            ) : null}
            <ins className="no-underline">{words(is[name])}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function words(value: unknown): string {
  if (value === undefined) return "";
  if (Array.isArray(value) && value.length === 0) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
