"use client";

import type { CsvCell as Cell } from "@helm/contracts";
/*
 * The one table of the console. Sort, filters, search, page and selection live in the address; on a narrow screen a row
 * is a card. Give it rows, columns and filters (ui/list-rows.ts); `empty` says the next step. In a page use QueryTable
 * or PagedTable (api/query-table.tsx), which add the loading, failed and forbidden screens around it.
 */
import {
  createPaginatedRowModel,
  createSortedRowModel,
  rowPaginationFeature,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import clsx from "clsx";
import { ArrowDown, ArrowUp, ArrowUpDown, ChevronLeft, ChevronRight } from "lucide-react";
import Link from "next/link";
import { type KeyboardEvent, type ReactNode, useMemo } from "react";
import { Button } from "./button";
import { ExportCsv } from "./export-csv";
import { SelectField } from "./field";
import { FilterBar } from "./filter-bar";
import { type Column, compareValues, type Filter, filterRows, writeValue } from "./list-rows";
import { type ListState, readSort, useListState, writeSort } from "./list-state";
import { count, plural } from "./numbers";
import { FilteredEmpty } from "./states";
import { Table, Td, Th, Tr } from "./table";

export type { Column, Filter } from "./list-rows";

export type Selection<Row> = {
  /** What a row's box is called: "Run of 12:03". */
  name: (row: Row) => string;
  /** How many may be chosen at once. */
  most?: number;
  /** What can be done with the chosen rows. */
  actions: (rows: Row[], clear: () => void) => ReactNode;
};

/** A long list that the server hands out in pages, in its own order. */
export type More<Row> = {
  has: boolean;
  busy: boolean;
  load: () => void;
  /** Every page of the filtered set, for the CSV. */
  all: () => AsyncIterable<Row[]>;
};

export type DataTableProps<Row> = {
  caption: string;
  /** "tenants": for the words of the empty filter. */
  what: string;
  rows: Row[];
  columns: Column<Row>[];
  rowId: (row: Row) => string;
  /** Where a row leads; its first cell becomes the link, and the arrow keys go from row to row. */
  href?: (row: Row) => string | null;
  filters?: Filter<Row>[];
  search?: string;
  /** Order before anybody chose one, written as in the address: "-measured". */
  sort?: string;
  /** Shown where there is nothing at all: says the next step and its command. */
  empty: ReactNode;
  /** File of the export; without it there is none. */
  csv?: string;
  onCsvError?: (error: unknown) => void;
  /** Above the table: what its signs mean. */
  legend?: ReactNode;
  /** At the end of the filter bar, beside the export. */
  actions?: ReactNode;
  select?: Selection<Row>;
  more?: More<Row>;
  /** Keeps the addresses of two tables on one page apart. */
  id?: string;
  pageSize?: number;
};

type Held = { row: object };

const features = tableFeatures({
  rowSortingFeature,
  rowPaginationFeature,
  rowSelectionFeature,
  sortedRowModel: createSortedRowModel(),
  paginatedRowModel: createPaginatedRowModel(),
});

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { rows, columns, filters = [], search, sort, more, pageSize = 50 } = props;
  const list = useListState(
    filters.map(({ key }) => key),
    props.id,
  );
  const order = list.sort ?? readSort(sort ?? "");
  const filtered = useMemo(
    () => filterRows(rows, columns, filters, list.values, list.search),
    [rows, columns, filters, list.values, list.search],
  );
  const shown = useShown(props, list, filtered, order, pageSize);

  if (rows.length === 0 && !list.narrowed) return props.empty;
  return (
    <>
      <FilterBar list={list} filters={filters} search={search}>
        {props.actions}
        {props.csv && filtered.length > 0 ? (
          <ExportCsv
            file={props.csv}
            columns={columns}
            pages={more ? more.all : () => [shown.sorted]}
            onError={props.onCsvError}
          />
        ) : null}
      </FilterBar>
      {props.legend ? <div className="mb-2 text-[0.8125rem] text-ink-soft">{props.legend}</div> : null}
      {props.select ? <Chosen select={props.select} list={list} rows={shown.chosen} /> : null}
      {filtered.length === 0 ? (
        <FilteredEmpty what={props.what} onClear={list.clear} />
      ) : (
        <>
          <Table
            caption={props.caption}
            before={<NarrowSort columns={sortable(columns, more)} order={order} onSort={list.setSort} />}
            head={<Heads {...props} order={order} list={list} shown={shown.page} />}
            onKeyDown={props.href ? walkRows : undefined}
          >
            {shown.page.map((row) => (
              <Line key={props.rowId(row)} {...props} row={row} list={list} />
            ))}
          </Table>
          {more ? (
            <LoadMore more={more} shown={filtered.length} what={props.what} />
          ) : (
            <Pages
              list={list}
              page={shown.number}
              pages={shown.pages}
              total={filtered.length}
              what={props.what}
            />
          )}
        </>
      )}
    </>
  );
}

/** Sorted, cut into pages, and which of them are chosen: the table library's work. */
function useShown<Row extends object>(
  { columns, rowId, more }: DataTableProps<Row>,
  list: ListState,
  filtered: Row[],
  order: ListState["sort"],
  pageSize: number,
) {
  const data = useMemo<Held[]>(() => filtered.map((row) => ({ row })), [filtered]);
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column.id,
        // An empty value is neither small nor large: it stays at the end in both directions.
        accessorFn: ({ row }: Held) => column.value?.(row as Row) ?? undefined,
        sortUndefined: "last" as const,
        sortFn: (
          a: { getValue: (id: string) => unknown },
          b: { getValue: (id: string) => unknown },
          id: string,
        ) => compareValues(a.getValue(id) as Cell, b.getValue(id) as Cell),
      })),
    [columns],
  );
  const pages = more ? 1 : Math.max(1, Math.ceil(filtered.length / pageSize));
  const number = Math.min(list.page, pages);
  const known = order && columns.some(({ id, value }) => id === order.id && value);
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: ({ row }) => rowId(row as Row),
    autoResetPageIndex: false,
    manualSorting: Boolean(more),
    manualPagination: Boolean(more),
    state: {
      sorting: known ? [{ id: order.id, desc: order.descending }] : [],
      pagination: { pageIndex: number - 1, pageSize },
      rowSelection: Object.fromEntries(list.selected.map((id) => [id, true])),
    },
  });
  const out = (held: { original: Held }[]) => held.map(({ original }) => original.row as Row);
  return {
    number,
    pages,
    sorted: out(table.getSortedRowModel().rows),
    page: out(table.getRowModel().rows),
    chosen: out(table.getSelectedRowModel().rows),
  };
}

function sortable<Row>(columns: Column<Row>[], more: More<Row> | undefined): Column<Row>[] {
  return columns.filter(({ value, sort }) => value && (more ? sort === true : sort !== false));
}

function Heads<Row extends object>({
  columns,
  select,
  more,
  order,
  list,
  shown,
  rowId,
}: DataTableProps<Row> & { order: ListState["sort"]; list: ListState; shown: Row[] }) {
  const can = new Set(sortable(columns, more).map(({ id }) => id));
  return (
    <>
      {select ? (
        <Th sticky className="w-8">
          <span className="sr-only">Chosen</span>
          {select.most ? null : (
            <Box
              name="Choose all rows of this page"
              className="@max-3xl:hidden"
              checked={shown.length > 0 && shown.every((row) => list.selected.includes(rowId(row)))}
              onChange={(checked) => {
                const here = shown.map(rowId);
                const others = list.selected.filter((id) => !here.includes(id));
                list.setSelected(checked ? [...others, ...here] : others);
              }}
            />
          )}
        </Th>
      ) : null}
      {columns.map((column) => {
        const sorted = order?.id === column.id ? order : null;
        const Arrow = sorted ? (sorted.descending ? ArrowDown : ArrowUp) : ArrowUpDown;
        return (
          <Th
            key={column.id}
            sticky
            className={column.className}
            sort={sorted ? (sorted.descending ? "descending" : "ascending") : undefined}
          >
            {can.has(column.id) ? (
              <>
                {/* In cards the heads are for listening only: nothing unseen may take the focus. */}
                <span className="hidden @max-3xl:inline">{column.name}</span>
                <button
                  type="button"
                  className="-mx-1 inline-flex min-h-6 items-center gap-1 rounded px-1 text-left font-medium hover:text-ink @max-3xl:hidden"
                  onClick={() => list.setSort(nextSort(column.id, sorted))}
                >
                  {column.name}
                  <Arrow
                    aria-hidden="true"
                    className={clsx("size-3.5 shrink-0", sorted ? "text-ink" : "opacity-45")}
                  />
                </button>
              </>
            ) : column.value || column.head ? (
              column.name
            ) : (
              <span className="sr-only">{column.name}</span>
            )}
            {column.head ? <> {column.head}</> : null}
          </Th>
        );
      })}
    </>
  );
}

/** Up, down, and back to the order the list has by itself. */
function nextSort(id: string, sorted: ListState["sort"]): ListState["sort"] {
  if (!sorted) return { id, descending: false };
  return sorted.descending ? null : { id, descending: true };
}

function Line<Row extends object>({
  row,
  columns,
  rowId,
  href,
  select,
  list,
}: DataTableProps<Row> & { row: Row; list: ListState }) {
  const id = rowId(row);
  const chosen = list.selected.includes(id);
  const to = href?.(row);
  return (
    <Tr selected={select ? chosen : undefined}>
      {select ? (
        <Td>
          <Box
            name={`Choose ${select.name(row)}`}
            checked={chosen}
            blocked={!chosen && select.most !== undefined && list.selected.length >= select.most}
            onChange={(checked) =>
              list.setSelected(checked ? [...list.selected, id] : list.selected.filter((one) => one !== id))
            }
          />
        </Td>
      ) : null}
      {columns.map((column, index) => {
        const content = column.cell ? column.cell(row) : writeValue(column.value?.(row));
        return (
          <Td
            key={column.id}
            label={column.value || column.head ? column.name : undefined}
            className={column.className}
          >
            {index === 0 && to ? (
              <Link href={to} data-row-link className="font-medium underline-offset-4 hover:underline">
                {content}
              </Link>
            ) : content === "" ? null : (
              content
            )}
          </Td>
        );
      })}
    </Tr>
  );
}

/** From row to row with the arrow keys, once a row's link has the focus; Enter opens it as any link. */
function walkRows(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row-link]")];
  const at = links.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  links[Math.min(Math.max(to, 0), links.length - 1)]?.focus();
}

function Box({
  name,
  checked,
  blocked,
  className,
  onChange,
}: {
  name: string;
  checked: boolean;
  blocked?: boolean;
  className?: string;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className={clsx("inline-flex size-6 items-center justify-center", className)}>
      <input
        type="checkbox"
        aria-label={name}
        checked={checked}
        aria-disabled={blocked || undefined}
        className="size-4 accent-accent aria-disabled:opacity-50"
        onChange={(event) => {
          if (!blocked) onChange(event.target.checked);
        }}
      />
    </label>
  );
}

function Chosen<Row>({ select, list, rows }: { select: Selection<Row>; list: ListState; rows: Row[] }) {
  if (rows.length === 0) return null;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3 rounded-lg bg-accent-wash px-3 py-2 text-accent-wash-ink">
      <span className="font-medium">
        {rows.length} chosen{select.most ? ` of ${select.most}` : ""}
      </span>
      {select.actions(rows, () => list.setSelected([]))}
      <Button size="small" onClick={() => list.setSelected([])}>
        Choose none
      </Button>
    </div>
  );
}

/** Where rows are cards there are no heads to press. */
function NarrowSort<Row>({
  columns,
  order,
  onSort,
}: {
  columns: Column<Row>[];
  order: ListState["sort"];
  onSort: (sort: ListState["sort"]) => void;
}) {
  if (columns.length === 0) return null;
  return (
    <div className="mb-2 @3xl:hidden">
      <SelectField
        label="Sorted by"
        value={writeSort(order)}
        onChange={(event) => onSort(readSort(event.target.value))}
      >
        <option value="">As it comes</option>
        {columns.flatMap(({ id, name }) => [
          <option key={id} value={id}>
            {name}, smallest or first
          </option>,
          <option key={`-${id}`} value={`-${id}`}>
            {name}, largest or last
          </option>,
        ])}
      </SelectField>
    </div>
  );
}

function Pages({
  list,
  page,
  pages,
  total,
  what,
}: {
  list: ListState;
  page: number;
  pages: number;
  total: number;
  what: string;
}) {
  if (pages === 1) return null;
  return (
    <nav aria-label={`Pages of ${what}`} className="mt-3 flex flex-wrap items-center gap-3">
      <Button
        size="small"
        blockedBecause={page === 1 ? "This is the first page." : null}
        onClick={() => list.setPage(page - 1)}
      >
        <ChevronLeft aria-hidden="true" className="size-4" />
        Previous
      </Button>
      <span className="text-ink-soft" role="status">
        Page {page} of {pages}, {count(total)} {what}
      </span>
      <Button
        size="small"
        blockedBecause={page === pages ? "This is the last page." : null}
        onClick={() => list.setPage(page + 1)}
      >
        Next
        <ChevronRight aria-hidden="true" className="size-4" />
      </Button>
    </nav>
  );
}

function LoadMore<Row>({ more, shown, what }: { more: More<Row>; shown: number; what: string }) {
  return (
    <div className="mt-3 flex flex-wrap items-center gap-3">
      {more.has ? (
        <Button busy={more.busy} onClick={more.load}>
          Show more
        </Button>
      ) : null}
      <span className="text-[0.8125rem] text-ink-soft" role="status">
        {more.has
          ? `The first ${plural(shown, "row")}; there are more ${what}`
          : `${count(shown)} ${what}, all shown`}
      </span>
    </div>
  );
}
