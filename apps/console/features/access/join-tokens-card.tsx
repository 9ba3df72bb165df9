"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { QueryTable } from "../../api/query-table";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import type { Column } from "../../ui/data-table";
import { Empty } from "../../ui/states";
import { useBlocked } from "../session/use-session";
import { openColumns } from "./open-columns";

type JoinToken = Outputs["host"]["joinTokens"][number];

const COLUMNS: Column<JoinToken>[] = [
  { id: "kind", name: "Lets in", value: (row) => `one ${row.kind}` },
  ...openColumns<JoinToken>({ action: (row) => <CancelJoinToken row={row} /> }),
];

export function JoinTokensCard() {
  const trpc = useTRPC();
  const tokens = useQuery(trpc.host.joinTokens.queryOptions());
  return (
    <Card
      title="Open join tokens"
      hint="Each lets one host join, once, until it expires. A host that has joined is revoked on its own card."
    >
      <QueryTable
        query={tokens}
        id="joins"
        what="join tokens"
        caption="Open join tokens"
        columns={COLUMNS}
        rowId={(row) => row.id}
        csv="helm-join-tokens"
        empty={
          <Empty title="No open join token">
            Nobody can join now. On the page Nodes and workers, “Add a node” or “Add a worker” makes a token.
          </Empty>
        }
      />
    </Card>
  );
}

function CancelJoinToken({ row }: { row: JoinToken }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const cancel = useMutation(
    trpc.host.cancelJoinToken.mutationOptions({
      onSuccess: () => tellStored("The join token lets nobody in any more"),
      onError: (error) => tellProblem("The join token was not cancelled", error),
      onSettled: () => void client.invalidateQueries({ queryKey: trpc.host.pathKey() }),
    }),
  );
  return (
    <Button
      size="small"
      busy={cancel.isPending}
      blockedBecause={useBlocked("admin")}
      aria-label={`Cancel the join token for a ${row.kind}, made by ${row.createdBy}`}
      onClick={() => cancel.mutate({ id: row.id })}
    >
      Cancel
    </Button>
  );
}
