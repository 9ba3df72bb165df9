"use client";

import type { Outputs } from "../../api/trpc";
import { Td, Tr } from "../../ui/table";
import { Moment } from "../preferences/time";

export type AuditRow = Outputs["audit"]["list"]["rows"][number];

export function AuditTableRow({ row }: { row: AuditRow }) {
  return (
    <Tr>
      <Td label="When" className="align-top whitespace-nowrap">
        <Moment at={row.at} />
      </Td>
      <Td label="Who" className="align-top">
        {row.actorName}
        {row.actorKind === "person" ? null : <span className="text-ink-soft"> ({row.actorKind})</span>}
      </Td>
      <Td label="What" className="align-top">
        <code className="font-mono text-[0.8125rem]">{row.verb}</code>
        <div className="font-mono text-[0.75rem] break-all text-ink-soft" title={`Request ${row.requestId}`}>
          {row.entity} {row.entityId.length > 13 ? `...${row.entityId.slice(-8)}` : row.entityId}
        </div>
      </Td>
      <Td label="Change" className="align-top">
        <Change before={row.before} after={row.after} />
        {row.reason ? <div className="text-ink-soft">{row.reason}</div> : null}
      </Td>
    </Tr>
  );
}

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
