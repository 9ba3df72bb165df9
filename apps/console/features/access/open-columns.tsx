import type { ReactNode } from "react";
import type { Column } from "../../ui/data-table";
import { TimeAgo } from "../preferences/time";

type Open = { expiresAt: Date; createdAt: Date; createdBy: string };

/** What a list of things that were handed out and not used yet ends with: until when, by whom, and the way out. */
export function openColumns<Row extends Open>({
  expires = (row) => <TimeAgo at={row.expiresAt} />,
  action,
}: {
  expires?: (row: Row) => ReactNode;
  action: (row: Row) => ReactNode;
}): Column<Row>[] {
  return [
    { id: "expires", name: "Expires", value: (row) => row.expiresAt, cell: expires },
    {
      id: "made",
      name: "Made",
      value: (row) => row.createdAt,
      cell: (row) => (
        <>
          <TimeAgo at={row.createdAt} /> <span className="text-ink-soft">by {row.createdBy}</span>
        </>
      ),
    },
    { id: "action", name: "Action", cell: action, className: "@3xl:text-right" },
  ];
}
