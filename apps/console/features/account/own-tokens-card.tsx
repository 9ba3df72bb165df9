"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryTable } from "../../api/query-table";
import { useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { CreateToken } from "./create-token-dialog";
import { TOKEN_COLUMNS, TOKEN_FILTERS } from "./token-columns";

export function OwnTokensCard() {
  const trpc = useTRPC();
  const tokens = useQuery(trpc.token.list.queryOptions());
  return (
    <Card
      title="Personal tokens"
      hint="For the command line: set LIFEBOAT_URL and LIFEBOAT_TOKEN. A token may do what you may, as your role is at the time; it cannot make further tokens or change the password."
      action={<CreateToken />}
    >
      <QueryTable
        query={tokens}
        id="tokens"
        what="tokens"
        caption="Your personal tokens"
        columns={TOKEN_COLUMNS}
        rowId={(token) => token.id}
        filters={TOKEN_FILTERS}
        csv="helm-my-tokens"
        empty={
          <Empty title="No tokens yet" command={command.createToken("NAME")}>
            Make one for every machine or job that calls this server, so that each can be revoked alone.
          </Empty>
        }
      />
    </Card>
  );
}
