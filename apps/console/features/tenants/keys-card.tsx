"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { QueryView } from "../../api/query-view";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { ConfirmDialog } from "../../ui/dialog";
import { Empty } from "../../ui/states";
import { Table, Td, Th, Tr } from "../../ui/table";
import { TimeAgo, useNow } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { command } from "../shell/commands";
import { CreateKey } from "./create-key-dialog";

type Key = Outputs["key"]["list"][number];

export function KeysCard({ tenantId, tenantName }: { tenantId: string; tenantName: string }) {
  const trpc = useTRPC();
  const keys = useQuery(trpc.key.list.queryOptions({ tenantId }));
  return (
    <Card
      title="API keys"
      hint="A key is shown once, when it is made. Afterwards only its prefix is known here."
      action={<CreateKey tenantId={tenantId} tenantName={tenantName} />}
    >
      <QueryView query={keys} label="Loading keys">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No keys yet" command={command.createKey(tenantName)}>
              Create one; the gateway answers nobody without a key.
            </Empty>
          ) : (
            <Table
              caption={`API keys of ${tenantName}`}
              head={
                <>
                  <Th>Name</Th>
                  <Th>Prefix</Th>
                  <Th>State</Th>
                  <Th>Made</Th>
                  <Th>Last used</Th>
                  <Th>
                    <span className="sr-only">Action</span>
                  </Th>
                </>
              }
            >
              {rows.map((key) => (
                <KeyRow key={key.id} row={key} />
              ))}
            </Table>
          )
        }
      </QueryView>
    </Card>
  );
}

function KeyRow({ row }: { row: Key }) {
  return (
    <Tr>
      <Td label="Name" className="font-medium">
        {row.name}
      </Td>
      <Td label="Prefix">
        <code className="font-mono text-[0.8125rem]">{row.prefix}_...</code>
      </Td>
      <Td label="State">
        <KeyState row={row} />
      </Td>
      <Td label="Made">
        <TimeAgo at={row.createdAt} /> <span className="text-ink-soft">by {row.createdBy}</span>
      </Td>
      <Td label="Last used">
        <TimeAgo at={row.lastUsedAt} />
      </Td>
      <Td className="@3xl:text-right">{row.revokedAt ? null : <RevokeKey row={row} />}</Td>
    </Tr>
  );
}

function KeyState({ row }: { row: Key }) {
  const now = useNow();
  if (row.revokedAt) {
    return (
      <span className="inline-flex flex-wrap items-center gap-1.5">
        <Badge tone="bad" shape="cross">
          Revoked
        </Badge>
        <TimeAgo at={row.revokedAt} />
      </span>
    );
  }
  if (row.expiresAt && row.expiresAt.getTime() <= now) {
    return (
      <Badge tone="warn" shape="slash">
        Expired
      </Badge>
    );
  }
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone="good" shape="check">
        Live
      </Badge>
      {row.expiresAt ? (
        <span className="text-ink-soft">
          expires <TimeAgo at={row.expiresAt} />
        </span>
      ) : null}
    </span>
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
        description="Whoever uses this key is refused within seconds, and a revoked key cannot come back."
        confirm="Revoke the key"
        kind="danger"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ id: row.id })}
      />
    </>
  );
}
