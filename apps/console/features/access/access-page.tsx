"use client";

import { PageHeader } from "../../ui/card";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { AddPerson } from "./add-person-dialog";
import { AllTokensCard } from "./all-tokens-card";
import { InvitationsCard } from "./invitations-card";
import { JoinTokensCard } from "./join-tokens-card";
import { PeopleCard } from "./people-card";
import { RolesCard } from "./roles-card";

export function AccessPage() {
  return (
    <>
      <PageHeader
        title="Access"
        lead="Who may come in, and what each may do. A role holds for the whole fleet, in this console and on the command line alike."
        actions={<AddPerson />}
      />
      <PeopleCard />
      <RolesCard />
      <InvitationsCard />
      <AllTokensCard />
      <JoinTokensCard />
      <Terminal
        commands={[
          command.people,
          command.createPerson("EMAIL", "NAME", "operator"),
          command.setRole("EMAIL", "viewer"),
        ]}
      />
    </>
  );
}
