// biome-ignore-all lint/a11y/noRedundantRoles: in a narrow place the parts are drawn as blocks, and browsers then forget what they are
import clsx from "clsx";
import type { KeyboardEventHandler, ReactNode } from "react";

/**
 * A table on wide screens; in a place too narrow for one each row becomes a small card whose cells carry their column's name,
 * so that nothing scrolls sideways at 320 px.
 */
export function Table({
  caption,
  head,
  before,
  onKeyDown,
  children,
}: {
  caption: string;
  head: ReactNode;
  /** In the same space, above it: may ask how narrow that space is. */
  before?: ReactNode;
  onKeyDown?: KeyboardEventHandler<HTMLTableElement>;
  children: ReactNode;
}) {
  return (
    <div className="@container">
      {before}
      <table
        className="w-full border-separate border-spacing-0 text-left @max-3xl:block"
        role="table"
        onKeyDown={onKeyDown}
      >
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup" className="text-[0.75rem] text-ink-soft @max-3xl:sr-only">
          <tr role="row">{head}</tr>
        </thead>
        <tbody role="rowgroup" className="@max-3xl:block">
          {children}
        </tbody>
      </table>
    </div>
  );
}

/** `sticky`: stays below the top bar while the rows go by. */
export function Th({
  children,
  className,
  sticky,
  sort,
}: {
  children?: ReactNode;
  className?: string;
  sticky?: boolean;
  sort?: "ascending" | "descending";
}) {
  return (
    <th
      scope="col"
      role="columnheader"
      aria-sort={sort}
      className={clsx(
        "border-b border-line px-2 py-2 align-bottom font-medium",
        sticky && "@3xl:sticky @3xl:top-13 @3xl:z-10 @3xl:bg-card",
        className,
      )}
    >
      {children}
    </th>
  );
}

export function Tr({ children, selected }: { children: ReactNode; selected?: boolean }) {
  return (
    <tr
      role="row"
      data-selected={selected}
      className="border-line data-[selected=true]:bg-accent-wash/40 @max-3xl:block @max-3xl:border-b @max-3xl:py-2.5 @max-3xl:last:border-b-0 @3xl:[&:not(:last-child)>td]:border-b"
    >
      {children}
    </tr>
  );
}

/** `label` is the column's name, shown before the value on narrow screens; there a cell without content is left out. */
export function Td({
  label,
  children,
  className,
}: {
  label?: string;
  children?: ReactNode;
  className?: string;
}) {
  const empty = children === null || children === undefined || children === false;
  return (
    <td
      role="cell"
      className={clsx(
        "border-line px-2 py-3 align-middle @max-3xl:items-center @max-3xl:gap-2 @max-3xl:px-0 @max-3xl:py-1",
        empty ? "@max-3xl:hidden" : "@max-3xl:flex",
        className,
      )}
    >
      {label ? (
        <span aria-hidden="true" className="w-19 shrink-0 text-[0.75rem] text-ink-soft @3xl:hidden">
          {label}
        </span>
      ) : null}
      <div className="min-w-0 @max-3xl:flex-1">{children}</div>
    </td>
  );
}
