import type { CsvCell as Cell } from "@helm/contracts";
import type { ReactNode } from "react";

/** A column of a list: what it is called, what it is worth, and how it is drawn. */
export type Column<Row> = {
  /** Stands in the address when the list is sorted by it. */
  id: string;
  /** Head of the column, label on a narrow screen, head in the CSV. */
  name: string;
  /** What sorting, the search and the CSV take; a column without it is drawn only (an action). */
  value?: (row: Row) => Cell;
  /** How it is drawn; without it the value is written. */
  cell?: (row: Row) => ReactNode;
  /** Beside the name in the head: the key of a drawing. */
  head?: ReactNode;
  /** Other or further columns of the CSV, by their head; `false` leaves this column out. */
  csv?: false | Record<string, (row: Row) => Cell>;
  /** `false`: no button to sort by it. */
  sort?: boolean;
  className?: string;
};

/** A question above a list. With `matches` the rows at hand are filtered; without it the server filters (see ListState.values). */
export type Filter<Row> = {
  key: string;
  name: string;
  options?: readonly (string | { value: string; name: string })[];
  /** What is asked for where there are no options. */
  kind?: "text" | "date";
  placeholder?: string;
  matches?: (row: Row, value: string) => boolean;
};

/** Rows that every filter and every word of the search lets through. */
export function filterRows<Row>(
  rows: Row[],
  columns: Column<Row>[],
  filters: Filter<Row>[],
  values: Record<string, string>,
  search: string,
): Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const asked = filters.filter(({ key, matches }) => matches && values[key]);
  if (words.length === 0 && asked.length === 0) return rows;
  return rows.filter(
    (row) =>
      asked.every(({ key, matches }) => matches?.(row, values[key] ?? "")) &&
      (words.length === 0 || words.every((word) => textOf(row, columns).includes(word))),
  );
}

function textOf<Row>(row: Row, columns: Column<Row>[]): string {
  return columns
    .map(({ value }) => writeValue(value?.(row)))
    .join("\n")
    .toLowerCase();
}

export function writeValue(value: Cell): string {
  if (value === null || value === undefined) return "";
  return value instanceof Date ? value.toISOString() : String(value);
}

const byWords = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Ascending; numbers and times by size, everything else as people order words. */
export function compareValues(a: Cell, b: Cell): number {
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return byWords.compare(writeValue(a), writeValue(b));
}

/** Heads and cells of the CSV, in the order of the columns. */
export function csvColumns<Row>(columns: Column<Row>[]): { name: string; value: (row: Row) => Cell }[] {
  return columns.flatMap((column) => {
    if (column.csv === false) return [];
    if (column.csv) return Object.entries(column.csv).map(([name, value]) => ({ name, value }));
    return column.value ? [{ name: column.name, value: column.value }] : [];
  });
}
