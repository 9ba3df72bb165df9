import { expect, it } from "vitest";
import { type Column, compareValues, csvColumns, type Filter, filterRows } from "./list-rows";

type Row = { name: string; size: number | null; live: boolean };
const rows: Row[] = [
  { name: "pilot to target", size: 10, live: true },
  { name: "target to pilot", size: null, live: false },
  { name: "target to target", size: 9, live: true },
];
const columns: Column<Row>[] = [
  { id: "name", name: "Name", value: (row) => row.name },
  {
    id: "size",
    name: "Size",
    value: (row) => row.size,
    csv: { bytes: (row) => row.size, live: (row) => row.live },
  },
  { id: "action", name: "Action", cell: () => "x" },
];
const live: Filter<Row> = {
  key: "state",
  name: "State",
  matches: (row, value) => row.live === (value === "live"),
};
const byServer: Filter<Row> = { key: "actor", name: "Who" };

it("finds rows that have every word, in any order and case", () => {
  expect(filterRows(rows, columns, [], {}, "TARGET  pilot").map((row) => row.name)).toEqual([
    "pilot to target",
    "target to pilot",
  ]);
});

it("applies its own filters and leaves the server's to the server", () => {
  expect(filterRows(rows, columns, [live, byServer], { state: "live", actor: "nobody" }, "")).toHaveLength(2);
  expect(filterRows(rows, columns, [live], { state: "" }, "")).toBe(rows);
});

it("sorts numbers by size and words as people do", () => {
  expect([10, 9, 100].sort(compareValues)).toEqual([9, 10, 100]);
  expect(["run 10", "Run 9"].sort(compareValues)).toEqual(["Run 9", "run 10"]);
});

it("exports values, not drawings, and what a column names beside itself", () => {
  expect(csvColumns(columns).map(({ name }) => name)).toEqual(["Name", "bytes", "live"]);
  expect(csvColumns(columns).map(({ value }) => value(rows[0]!))).toEqual(["pilot to target", 10, true]);
});
