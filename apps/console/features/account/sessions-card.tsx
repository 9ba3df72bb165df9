"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { QueryTable } from "../../api/query-table";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import type { Column } from "../../ui/data-table";
import { plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { signOut } from "../session/sign-out";
import { programOf } from "./browser-words";

type Session = Outputs["account"]["sessions"][number];

const COLUMNS: Column<Session>[] = [
  {
    id: "program",
    name: "Where",
    value: (session) => programOf(session.userAgent),
    cell: (session) => (
      <span className="inline-flex flex-wrap items-center gap-x-2" title={session.userAgent ?? undefined}>
        {programOf(session.userAgent)}
        {session.current ? (
          <Badge tone="accent" shape="dot">
            This one
          </Badge>
        ) : null}
      </span>
    ),
    csv: { Program: (session) => session.userAgent, Current: (session) => (session.current ? "yes" : "no") },
  },
  { id: "address", name: "Address", value: (session) => session.address ?? "not known" },
  {
    id: "began",
    name: "Signed in",
    value: (session) => session.createdAt,
    cell: (session) => <TimeAgo at={session.createdAt} />,
  },
  {
    id: "ends",
    name: "Ends",
    value: (session) => session.expiresAt,
    cell: (session) => <TimeAgo at={session.expiresAt} />,
  },
  {
    id: "action",
    name: "Action",
    cell: (session) => <EndSession session={session} />,
    className: "@3xl:text-right",
  },
];

export function SessionsCard() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const sessions = useQuery(trpc.account.sessions.queryOptions());
  const others = sessions.data?.filter((session) => !session.current).length ?? 0;
  const end = useMutation(
    trpc.account.revokeOtherSessions.mutationOptions({
      onSuccess: ({ sessionsEnded }) => tellStored(`${plural(sessionsEnded, "session")} ended`),
      onError: (error) => tellProblem("The sessions were not ended", error),
      onSettled: () => void client.invalidateQueries({ queryKey: trpc.account.pathKey() }),
    }),
  );
  return (
    <Card
      title="Sessions"
      hint="Where you are signed in. One that is ended is out at once, with its live views."
      action={
        <Button
          busy={end.isPending}
          blockedBecause={others === 0 ? "There is no other session." : null}
          onClick={() => end.mutate()}
        >
          End all others
        </Button>
      }
    >
      <QueryTable
        query={sessions}
        id="sessions"
        what="sessions"
        caption="Your open sessions"
        columns={COLUMNS}
        rowId={(session) => session.id}
        csv="helm-sessions"
        empty={
          <Empty title="No session">You came by a personal token: no browser of yours is signed in.</Empty>
        }
      />
    </Card>
  );
}

function EndSession({ session }: { session: Session }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const end = useMutation(
    trpc.account.revokeSession.mutationOptions({
      onSuccess: () => tellStored("The session has ended"),
      onError: (error) => tellProblem("The session was not ended", error),
      onSettled: () => void client.invalidateQueries({ queryKey: trpc.account.pathKey() }),
    }),
  );
  const where = programOf(session.userAgent);
  if (session.current)
    return (
      <Button size="small" onClick={() => void signOut()}>
        Sign out
      </Button>
    );
  return (
    <Button
      size="small"
      busy={end.isPending}
      aria-label={`End the session of ${where}${session.address ? ` at ${session.address}` : ""}`}
      onClick={() => end.mutate({ id: session.id })}
    >
      End
    </Button>
  );
}
