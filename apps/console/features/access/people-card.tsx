"use client";

import type { Role } from "@helm/contracts";
import { useState } from "react";
import { QueryTable } from "../../api/query-table";
import { Badge } from "../../ui/badge";
import { Card } from "../../ui/card";
import type { Column, Filter } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { useBlocked, useSession } from "../session/use-session";
import { command } from "../shell/commands";
import { PersonMenu } from "./person-menu";
import { ROLES, roleWith } from "./role-words";
import { type Person, usePeople, useSetRole } from "./use-people";

const COLUMNS: Column<Person>[] = [
  {
    id: "person",
    name: "Person",
    value: (person) => person.email,
    cell: (person) => <Who person={person} />,
    csv: { Name: (person) => person.name, Email: (person) => person.email },
  },
  {
    id: "role",
    name: "Role",
    value: (person) => ROLES.indexOf(person.role),
    cell: (person) => <RoleChoice person={person} />,
    csv: { Role: (person) => person.role },
  },
  {
    id: "state",
    name: "State",
    value: (person) => person.state,
    cell: (person) => <PersonState person={person} />,
  },
  {
    id: "in",
    name: "Last sign-in",
    value: (person) => person.lastSignInAt,
    cell: (person) => (
      <div>
        <TimeAgo at={person.lastSignInAt} />
        <div className="text-[0.8125rem] text-ink-soft">
          {plural(person.sessions, "session")}, {plural(person.tokens, "token")}
        </div>
      </div>
    ),
    csv: {
      "Last sign-in": (person) => person.lastSignInAt,
      Sessions: (person) => person.sessions,
      Tokens: (person) => person.tokens,
    },
  },
  {
    id: "action",
    name: "Action",
    cell: (person) => <PersonMenu person={person} />,
    className: "@3xl:text-right",
  },
];

const FILTERS: Filter<Person>[] = [
  { key: "role", name: "Role", options: ROLES, matches: (person, value) => person.role === value },
  {
    key: "state",
    name: "State",
    options: ["active", "invited", "disabled"],
    matches: (person, value) => person.state === value.toUpperCase(),
  },
];

export function PeopleCard() {
  const people = usePeople();
  return (
    <Card title="People">
      <QueryTable
        query={people}
        id="people"
        what="people"
        caption="People with their roles"
        columns={COLUMNS}
        rowId={(person) => person.id}
        filters={FILTERS}
        search="Search people"
        csv="helm-people"
        empty={
          <Empty title="Nobody yet" command={command.createPerson("EMAIL", "NAME", "viewer")}>
            Add a person: you get a link to hand on, with which they choose their password.
          </Empty>
        }
      />
    </Card>
  );
}

function Who({ person }: { person: Person }) {
  const me = useSession().data?.user.id;
  return (
    <div>
      <div className="font-medium">
        {person.name}
        {person.id === me ? <span className="font-normal text-ink-soft"> (you)</span> : null}
      </div>
      <div className="text-[0.8125rem] text-ink-soft [overflow-wrap:anywhere]">{person.email}</div>
    </div>
  );
}

const STATES = {
  ACTIVE: { tone: "good", shape: "check", sentence: null },
  INVITED: { tone: "busy", shape: "dashed", sentence: "has no password yet" },
  DISABLED: { tone: "bad", shape: "slash", sentence: "is let in nowhere" },
} as const;

function PersonState({ person }: { person: Person }) {
  const { tone, shape, sentence } = STATES[person.state];
  return (
    <span className="inline-flex flex-wrap items-center gap-x-1.5">
      <Badge tone={tone} shape={shape}>
        {person.state}
      </Badge>
      {sentence ? <span className="text-ink-soft">{sentence}</span> : null}
    </span>
  );
}

/** Asks first: what a person may do changes at once, in every place where they are signed in. */
function RoleChoice({ person }: { person: Person }) {
  const [asked, setAsked] = useState<Role | null>(null);
  const change = useSetRole();
  const blocked = useBlocked("admin") ?? (change.isPending ? "Being stored." : null);
  if (blocked) return <span title={blocked}>{person.role}</span>;
  return (
    <>
      <select
        aria-label={`Role of ${person.email}`}
        value={person.role}
        onChange={(event) => setAsked(event.target.value as Role)}
        className="min-h-8 rounded-lg border border-line-strong bg-card px-2 text-sm text-ink"
      >
        {ROLES.map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={asked ? `Make ${person.email} ${roleWith(asked)}?` : ""}
        description="It holds from their next click on, in open sessions and for their personal tokens too."
        confirm="Change the role"
        onConfirm={() => {
          if (asked) change.mutate({ id: person.id, role: asked, revision: person.revision });
          setAsked(null);
        }}
      />
    </>
  );
}
