import { Table, Td, Th, Tr } from "../../ui/table";
import { pairName } from "../pairs/pair-words";
import type { Difference } from "./snapshot-words";

function absence({ kind, field }: Difference): string {
  return kind === "route" && field === "existence" ? "not there: its callers get 404" : "not there";
}

/** What two contents say differently, a line each: where, what, before and after. */
export function Differences({
  rows,
  caption,
  none,
  before = "Before",
  after = "After",
}: {
  rows: Difference[];
  caption: string;
  none: string;
  before?: string;
  after?: string;
}) {
  if (rows.length === 0) return <p className="text-ink-soft">{none}</p>;
  return (
    <Table
      caption={caption}
      head={
        <>
          <Th>Where</Th>
          <Th>What</Th>
          <Th>{before}</Th>
          <Th>{after}</Th>
        </>
      }
    >
      {rows.map((row) => (
        <Tr key={`${row.kind} ${row.id} ${row.field}`}>
          <Td label="Where" className="font-medium">
            {pairName(row.name)}
          </Td>
          <Td label="What">{row.field === "existence" ? "the whole of it" : row.field}</Td>
          <Td label={before}>{row.before ?? <span className="text-ink-soft">not there</span>}</Td>
          <Td label={after}>{row.after ?? <span className="text-ink-soft">{absence(row)}</span>}</Td>
        </Tr>
      ))}
    </Table>
  );
}
