"use client";

import { plural } from "../../ui/numbers";
import { differenceOf, type Field } from "./difference";
import { fieldWords } from "./field-words";

/** More than these lengthen the list for what few look up. */
const MOST = 4;

/** What differs, a field a line; signs and words beside the colour. The rest stands in the details. */
export function Change({ before, after }: { before: unknown; after: unknown }) {
  const fields = differenceOf(before, after).filter(({ kind }) => kind !== "same");
  if (fields.length === 0) return <span className="text-ink-soft">no field changed</span>;
  const rest = fields.length > MOST + 1 ? fields.length - MOST : 0;
  return (
    <dl className="grid gap-x-3 gap-y-0.5 text-[0.8125rem] @3xl:grid-cols-[minmax(6rem,auto)_minmax(0,1fr)]">
      {fields.slice(0, fields.length - rest).map((field) => (
        <div key={field.path} className="contents">
          <dt className="text-ink-soft [overflow-wrap:anywhere]">{fieldWords(field.path)}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">
            <Values field={field} />
          </dd>
        </div>
      ))}
      {rest > 0 ? (
        <div className="contents">
          <dt className="text-ink-soft">and</dt>
          <dd className="text-ink-soft">{plural(rest, "more field")}, in the details</dd>
        </div>
      ) : null}
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
