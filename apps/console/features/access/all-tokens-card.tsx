"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryTable } from "../../api/query-table";
import { useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import type { Column } from "../../ui/data-table";
import { Empty } from "../../ui/states";
import { TOKEN_COLUMNS, TOKEN_FILTERS, type Token } from "../account/token-columns";
import { useBlocked } from "../session/use-session";
import { command } from "../shell/commands";

const COLUMNS: Column<Token>[] = [
  { id: "person", name: "Person", value: (token) => token.person.email, className: "font-medium" },
  ...TOKEN_COLUMNS.filter((column) => column.id !== "made"),
];

/** Everyone's. One's own are on the account page. */
export function AllTokensCard() {
  const trpc = useTRPC();
  const blocked = useBlocked("admin");
  const tokens = useQuery(trpc.token.listAll.queryOptions(undefined, { enabled: blocked === null }));
  return (
    <Card
      title="Personal tokens of everyone"
      hint="For the command line. A token may do what its person may, as the role is now."
    >
      {blocked ? (
        <p className="text-ink-soft">{blocked} Your own tokens are on your account page.</p>
      ) : (
        <QueryTable
          query={tokens}
          id="tokens"
          what="tokens"
          caption="Personal tokens of everyone"
          columns={COLUMNS}
          rowId={(token) => token.id}
          filters={TOKEN_FILTERS}
          search="Search tokens"
          csv="helm-personal-tokens"
          empty={
            <Empty title="No tokens yet" command={command.createToken("NAME")}>
              Everyone makes their own, on the account page or after lifeboat login.
            </Empty>
          }
        />
      )}
    </Card>
  );
}
