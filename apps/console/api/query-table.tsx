"use client";

/*
 * A list with all of its five screens: loading, failed and forbidden from the question, empty and filtered-empty from the
 * table. QueryTable for a list that comes whole, PagedTable for one that comes in pages ({ rows, nextCursor }).
 *
 *   <QueryTable query={useTenants()} what="tenants" caption="Tenants" columns={COLUMNS} rowId={(t) => t.id}
 *     href={(t) => `/tenants/${t.id}`} filters={FILTERS} search="Search tenants" csv="helm-tenants" empty={<Empty .../>} />
 *
 * Columns and filters stand outside the component (or in useMemo): a new list each time would sort again each time.
 */
import { DataTable, type DataTableProps } from "../ui/data-table";
import { QueryView } from "./query-view";
import { tellProblem } from "./tell";

type Question<T> = Parameters<typeof QueryView<T>>[0]["query"];
type Shared<Row> = Omit<DataTableProps<Row>, "rows" | "more" | "onCsvError">;

const onCsvError = (error: unknown) => tellProblem("The export did not complete", error);

export function QueryTable<Row extends object>({
  query,
  ...table
}: Shared<Row> & { query: Question<Row[]> }) {
  return (
    <QueryView query={query} label={`Loading ${table.what}`} rows={5}>
      {(rows) => <DataTable {...table} rows={rows} onCsvError={onCsvError} />}
    </QueryView>
  );
}

type Page<Row> = { rows: Row[]; nextCursor: string | null };
type Paged<Row> = Question<{ pages: Page<Row>[] }> & {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
};

/** `page` asks for one page of the same filtered set, for the export: (cursor) => client.audit.list.query({ cursor, ... }). */
export function PagedTable<Row extends object>({
  query,
  page,
  ...table
}: Shared<Row> & { query: Paged<Row>; page: (cursor: string | undefined) => Promise<Page<Row>> }) {
  async function* all() {
    let cursor: string | undefined;
    do {
      const { rows, nextCursor } = await page(cursor);
      yield rows;
      cursor = nextCursor ?? undefined;
    } while (cursor);
  }
  return (
    <QueryView query={query} label={`Loading ${table.what}`} rows={6}>
      {({ pages }) => (
        <DataTable
          {...table}
          rows={pages.flatMap((one) => one.rows)}
          onCsvError={onCsvError}
          more={{
            has: query.hasNextPage,
            busy: query.isFetchingNextPage,
            load: () => void query.fetchNextPage(),
            all,
          }}
        />
      )}
    </QueryView>
  );
}
