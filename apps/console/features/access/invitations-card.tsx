"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { QueryTable } from "../../api/query-table";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import type { Column } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { Empty } from "../../ui/states";
import { TimeAgo, useNow } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { openColumns } from "./open-columns";

type Invitation = Outputs["invitation"]["list"][number];

const COLUMNS: Column<Invitation>[] = [
  { id: "person", name: "Person", value: (row) => row.person.email, className: "font-medium" },
  { id: "role", name: "Role", value: (row) => row.person.role },
  ...openColumns<Invitation>({
    expires: (row) => <Expires row={row} />,
    action: (row) => <CancelInvitation row={row} />,
  }),
];

export function InvitationsCard() {
  const trpc = useTRPC();
  const blocked = useBlocked("admin");
  const invitations = useQuery(trpc.invitation.list.queryOptions(undefined, { enabled: blocked === null }));
  return (
    <Card
      title="Open invitations"
      hint="Links that were handed on and not used yet. None can be shown again."
    >
      {blocked ? (
        <p className="text-ink-soft">{blocked}</p>
      ) : (
        <QueryTable
          query={invitations}
          id="invitations"
          what="invitations"
          caption="Open invitations"
          columns={COLUMNS}
          rowId={(row) => row.id}
          csv="helm-invitations"
          empty={
            <Empty title="No open invitation">
              Everyone who was added has a password. Add a person, or reset somebody's sign-in, to make a
              link.
            </Empty>
          }
        />
      )}
    </Card>
  );
}

function Expires({ row }: { row: Invitation }) {
  const now = useNow();
  if (row.expiresAt.getTime() <= now)
    return (
      <span className="inline-flex flex-wrap items-center gap-x-1.5">
        <Badge tone="warn" shape="slash">
          Expired
        </Badge>
        <span className="text-ink-soft">reset the sign-in to make a new one</span>
      </span>
    );
  return <TimeAgo at={row.expiresAt} />;
}

function CancelInvitation({ row }: { row: Invitation }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const cancel = useMutation(
    trpc.invitation.cancel.mutationOptions({
      onSuccess: () => tellStored(`The link of ${row.person.email} opens nothing any more`),
      onError: (error) => tellProblem("The invitation was not cancelled", error),
      onSettled: () => {
        setOpen(false);
        for (const path of [trpc.invitation, trpc.person])
          void client.invalidateQueries({ queryKey: path.pathKey() });
      },
    }),
  );
  return (
    <>
      <Button
        size="small"
        blockedBecause={useBlocked("admin")}
        aria-label={`Cancel the invitation of ${row.person.email}`}
        onClick={() => setOpen(true)}
      >
        Cancel
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Cancel the invitation of ${row.person.email}?`}
        description="The link opens nothing from then on. The person stays, without a password."
        confirm="Cancel the invitation"
        kind="danger"
        busy={cancel.isPending}
        onConfirm={() => cancel.mutate({ id: row.id })}
      />
    </>
  );
}
