"use client";

import { KeyState, keyStateOf } from "@helm/contracts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { QueryTable } from "../../api/query-table";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import type { Column, Filter } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { command } from "../shell/commands";
import { CreateKey } from "./create-key-dialog";
import { KEY_STATE, KeyStateBadge } from "./key-state";
import { RotateKey } from "./rotate-key";

type Key = Outputs["key"]["list"][number];

const stateOf = (key: Key): KeyState => keyStateOf(key, new Date());

const COLUMNS: Column<Key>[] = [
  { id: "name", name: "Name", value: (key) => key.name, className: "font-medium" },
  {
    id: "prefix",
    name: "Prefix",
    value: (key) => key.prefix,
    cell: (key) => <code className="font-mono text-[0.8125rem]">{key.prefix}_...</code>,
  },
  {
    id: "state",
    name: "State",
    value: stateOf,
    cell: (key) => (
      <>
        <KeyStateBadge row={key} />
        {key.replacedBy ? (
          <span className="block text-[0.8125rem] text-ink-soft">
            <code className="font-mono">{key.replacedBy}_...</code> takes over
          </span>
        ) : null}
      </>
    ),
    csv: { State: stateOf, Expires: (key) => key.expiresAt, Revoked: (key) => key.revokedAt },
  },
  {
    id: "made",
    name: "Made",
    value: (key) => key.createdAt,
    cell: (key) => (
      <>
        <TimeAgo at={key.createdAt} /> <span className="text-ink-soft">by {key.createdBy}</span>
      </>
    ),
    csv: { Made: (key) => key.createdAt, "Made by": (key) => key.createdBy },
  },
  {
    id: "used",
    name: "Last used",
    value: (key) => key.lastUsedAt,
    cell: (key) => <TimeAgo at={key.lastUsedAt} />,
  },
  {
    id: "action",
    name: "Action",
    cell: (key) =>
      key.revokedAt ? null : (
        <span className="inline-flex flex-wrap gap-2 @3xl:justify-end">
          {key.replacedBy || stateOf(key) === "EXPIRED" ? null : <RotateKey row={key} />}
          <RevokeKey row={key} />
        </span>
      ),
    className: "@3xl:text-right",
  },
];

const FILTERS: Filter<Key>[] = [
  {
    key: "state",
    name: "State",
    options: KeyState.options.map((value) => ({ value, name: KEY_STATE[value].word })),
    matches: (key, value) => stateOf(key) === value,
  },
];

export function KeysCard({
  tenantId,
  tenantName,
  archived,
}: {
  tenantId: string;
  tenantName: string;
  archived: boolean;
}) {
  const trpc = useTRPC();
  const keys = useQuery(trpc.key.list.queryOptions({ tenantId }));
  return (
    <Card
      title="API keys"
      hint="A key is shown once, when it is made. Afterwards only its prefix is known here."
      action={archived ? null : <CreateKey tenantId={tenantId} tenantName={tenantName} />}
    >
      <QueryTable
        query={keys}
        id="keys"
        what="keys"
        caption={`API keys of ${tenantName}`}
        columns={COLUMNS}
        rowId={(key) => key.id}
        filters={FILTERS}
        csv="helm-keys"
        empty={
          <Empty title="No keys yet" command={command.createKey(tenantName)}>
            Create one; the gateway answers nobody without a key.
          </Empty>
        }
      />
    </Card>
  );
}

function RevokeKey({ row }: { row: Key }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const revoke = useMutation(
    trpc.key.revoke.mutationOptions({
      onSuccess: () => tellStored(`${row.name} is revoked`, "Connected nodes refuse it from now on."),
      onError: (error) => tellProblem("The key was not revoked", error),
      onSettled: () => {
        setOpen(false);
        void client.invalidateQueries({ queryKey: trpc.key.pathKey() });
        void client.invalidateQueries({ queryKey: trpc.tenant.pathKey() });
      },
    }),
  );
  return (
    <>
      <Button
        size="small"
        blockedBecause={useBlocked("admin")}
        onClick={() => setOpen(true)}
        aria-label={`Revoke ${row.name}`}
      >
        Revoke
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Revoke ${row.name}?`}
        description="Whoever uses this key is refused within a second on every connected node, and a revoked key cannot come back."
        confirm="Revoke the key"
        kind="danger"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ id: row.id })}
      />
    </>
  );
}
