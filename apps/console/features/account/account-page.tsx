"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Card, Facts, PageHeader } from "../../ui/card";
import { roleWith } from "../access/role-words";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { OwnTokensCard } from "./own-tokens-card";
import { PasswordCard } from "./password-card";
import { SessionsCard } from "./sessions-card";

export function AccountPage() {
  const trpc = useTRPC();
  const account = useQuery(trpc.account.get.queryOptions());
  return (
    <>
      <PageHeader
        title="Your account"
        lead="What is yours: password, sessions, and tokens for the command line."
      />
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title="Who you are">
          <QueryView query={account} rows={4}>
            {(me) => (
              <Facts
                rows={[
                  ["Name", me.name],
                  ["Email", me.email],
                  ["Role", `${me.role}: you are ${roleWith(me.role)} of the whole fleet`],
                  ["Last sign-in", <TimeAgo key="in" at={me.lastSignInAt} />],
                  ["Account made", <TimeAgo key="made" at={me.createdAt} />],
                ]}
              />
            )}
          </QueryView>
        </Card>
        <PasswordCard />
      </div>
      <SessionsCard />
      <OwnTokensCard />
      <Terminal commands={[command.whoami, command.createToken("NAME")]} />
    </>
  );
}
