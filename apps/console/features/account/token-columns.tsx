"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import type { Column, Filter } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { TimeAgo } from "../preferences/time";

export type Token = Outputs["token"]["list"][number];

const STATES = {
  LIVE: { tone: "good", shape: "check", word: "Live" },
  EXPIRED: { tone: "warn", shape: "slash", word: "Expired" },
  REVOKED: { tone: "bad", shape: "cross", word: "Revoked" },
  PERSON_DISABLED: { tone: "bad", shape: "slash", word: "Person disabled" },
} as const;

export const TOKEN_COLUMNS: Column<Token>[] = [
  { id: "name", name: "Name", value: (token) => token.name, className: "font-medium" },
  {
    id: "start",
    name: "Begins with",
    value: (token) => token.start,
    cell: (token) => <code className="font-mono text-[0.8125rem]">{token.start}...</code>,
  },
  {
    id: "state",
    name: "State",
    value: (token) => token.state,
    cell: (token) => <TokenState token={token} />,
    csv: {
      State: (token) => token.state,
      Expires: (token) => token.expiresAt,
      Revoked: (token) => token.revokedAt,
    },
  },
  {
    id: "used",
    name: "Last used",
    value: (token) => token.lastUsedAt,
    cell: (token) => <TimeAgo at={token.lastUsedAt} />,
  },
  {
    id: "made",
    name: "Made",
    value: (token) => token.createdAt,
    cell: (token) => <TimeAgo at={token.createdAt} />,
  },
  {
    id: "action",
    name: "Action",
    cell: (token) => (token.revokedAt ? null : <RevokeToken token={token} />),
    className: "@3xl:text-right",
  },
];

export const TOKEN_FILTERS: Filter<Token>[] = [
  {
    key: "state",
    name: "State",
    options: ["live", "expired", "revoked"],
    matches: (token, value) => token.state === value.toUpperCase(),
  },
];

function TokenState({ token }: { token: Token }) {
  const { tone, shape, word } = STATES[token.state];
  return (
    <span className="inline-flex flex-wrap items-center gap-x-1.5">
      <Badge tone={tone} shape={shape}>
        {word}
      </Badge>
      {token.state === "LIVE" ? (
        <span className="text-ink-soft">
          expires <TimeAgo at={token.expiresAt} />
        </span>
      ) : null}
      {token.revokedAt ? <TimeAgo at={token.revokedAt} /> : null}
    </span>
  );
}

function RevokeToken({ token }: { token: Token }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const revoke = useMutation(
    trpc.token.revoke.mutationOptions({
      onSuccess: () => tellStored(`${token.name} is revoked`, "It opens nothing from now on."),
      onError: (error) => tellProblem("The token was not revoked", error),
      onSettled: () => {
        setOpen(false);
        for (const path of [trpc.token, trpc.person])
          void client.invalidateQueries({ queryKey: path.pathKey() });
      },
    }),
  );
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)} aria-label={`Revoke ${token.name}`}>
        Revoke
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Revoke ${token.name}?`}
        description="Whatever uses it is refused at once, and a revoked token cannot come back."
        confirm="Revoke the token"
        kind="danger"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ id: token.id })}
      />
    </>
  );
}
