// biome-ignore-all lint/a11y/noRedundantRoles: below md the parts are drawn as blocks, and browsers then forget what they are
import clsx from "clsx";
import type { ReactNode } from "react";

/**
 * A table on wide screens; below `md` each row becomes a small card whose cells carry their column's name,
 * so that nothing scrolls sideways at 320 px.
 */
export function Table({
  caption,
  head,
  children,
}: {
  caption: string;
  head: ReactNode;
  children: ReactNode;
}) {
  return (
    <table className="w-full border-collapse text-left max-md:block" role="table">
      <caption className="sr-only">{caption}</caption>
      <thead role="rowgroup" className="text-[0.75rem] text-ink-soft max-md:sr-only">
        <tr role="row">{head}</tr>
      </thead>
      <tbody role="rowgroup" className="max-md:block">
        {children}
      </tbody>
    </table>
  );
}

export function Th({ children, className }: { children?: ReactNode; className?: string }) {
  return (
    <th
      scope="col"
      role="columnheader"
      className={clsx("border-b border-line px-2 py-2 align-bottom font-medium", className)}
    >
      {children}
    </th>
  );
}

export function Tr({ children }: { children: ReactNode }) {
  return (
    <tr role="row" className="border-b border-line last:border-b-0 max-md:block max-md:py-2.5">
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
        "px-2 py-3 align-middle max-md:items-center max-md:gap-2 max-md:px-0 max-md:py-1",
        empty ? "max-md:hidden" : "max-md:flex",
        className,
      )}
    >
      {label ? (
        <span aria-hidden="true" className="w-19 shrink-0 text-[0.75rem] text-ink-soft md:hidden">
          {label}
        </span>
      ) : null}
      <div className="min-w-0 max-md:flex-1">{children}</div>
    </td>
  );
}
