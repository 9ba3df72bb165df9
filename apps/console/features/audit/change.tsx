"use client";

import { differenceOf, type Field } from "./difference";

/** What differs, a field a line; signs and words beside the colour. What stayed as it was stands in the details. */
export function Change({ before, after }: { before: unknown; after: unknown }) {
  const fields = differenceOf(before, after).filter(({ kind }) => kind !== "same");
  if (fields.length === 0) return <span className="text-ink-soft">no field changed</span>;
  return (
    <dl className="grid gap-x-3 gap-y-0.5 text-[0.8125rem] @3xl:grid-cols-[minmax(6rem,auto)_minmax(0,1fr)]">
      {fields.map((field) => (
        <div key={field.path} className="contents">
          <dt className="text-ink-soft [overflow-wrap:anywhere]">{field.path}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">
            <Values field={field} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Values({ field }: { field: Field }) {
  const { was, is, kind } = field;
  if (kind === "removed") {
    return (
      <>
        <span className="sr-only">removed: </span>
        <del className="text-bad-ink">{was}</del>
      </>
    );
  }
  return (
    <>
      {kind === "changed" ? (
        <>
          <span className="sr-only">was </span>
          <del className="text-ink-soft">{was}</del> <span aria-hidden="true">{"\u2192"}</span>{" "}
          <span className="sr-only">, is </span>
        </>
      ) : null}
      <ins className="no-underline">{is}</ins>
    </>
  );
}
