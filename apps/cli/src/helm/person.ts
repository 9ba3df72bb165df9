import { Role } from "@helm/contracts";
import { type Command, Option } from "commander";
import type { Context } from "../context";
import { Failure, usage } from "../failure";
import { requireServer, type Server } from "../server/client";
import { minute, table } from "../terminal/style";
import type { AddVerb } from "../verb";

type Person = Awaited<ReturnType<Server["person"]["list"]["query"]>>[number];

/** `helm person ...`: who may come in, and as what. */
export function addPerson(helm: Command, verb: AddVerb): void {
  const person = helm.command("person").description("people and their roles");
  const role = () => new Option("--role <role>", "what the person may do").choices(Role.options);
  verb(person, "list", "everyone with role and state", (c) => listPeople(c));
  verb(person, "create <email>", "a new person, with a link to hand on", (c, [email = ""], o) =>
    createPerson(c, email, String(o.name), Role.parse(o.role)),
  )
    .requiredOption("--name <name>", "as the console shows it")
    .addOption(role().default("viewer"));
  verb(person, "set-role <person> <role>", "viewer, operator or admin", (c, [who = "", given = ""]) =>
    setRole(c, who, given),
  );
  verb(person, "disable <person>", "let in nowhere, sessions end", (c, [who = ""]) =>
    setDisabled(c, who, true),
  );
  verb(person, "enable <person>", "let in again", (c, [who = ""]) => setDisabled(c, who, false));
  verb(person, "reset-sign-in <person>", "end password, sessions and tokens; a new link", (c, [who = ""]) =>
    resetSignIn(c, who),
  );
  verb(person, "sign-out <person>", "end every session", (c, [who = ""]) => signOutEverywhere(c, who));
  verb(person, "remove <person>", "for good; the audit stays", (c, [who = ""]) => removePerson(c, who));
}

async function listPeople({ config, screen }: Context): Promise<void> {
  const people = await (await requireServer(config)).person.list.query();
  screen.answer({ type: "people", people }, () =>
    table(
      ["person", "name", "role", "state", "last sign-in (UTC)", "sessions", "tokens"],
      people.map((person) => [
        person.email,
        person.name,
        person.role,
        person.state,
        minute(person.lastSignInAt),
        String(person.sessions),
        String(person.tokens),
      ]),
    ),
  );
}

async function createPerson(
  { config, screen }: Context,
  email: string,
  name: string,
  role: Role,
): Promise<void> {
  const made = await (await requireServer(config)).person.create.mutate({ email, name, role });
  screen.answer({ type: "person", ...made }, () => [
    made.link,
    `Hand this link to ${made.person.email}: it works once, until ${minute(made.expiresAt)} UTC, and is shown only now.`,
  ]);
}

async function setRole({ config, screen }: Context, who: string, given: string): Promise<void> {
  const role = Role.safeParse(given);
  if (!role.success) throw usage(`${given} is no role. Give one of ${Role.options.join(", ")}.`);
  const server = await requireServer(config);
  const { id, revision } = await findPerson(server, who);
  const person = await server.person.setRole.mutate({ id, role: role.data, revision });
  screen.answer({ type: "person", person }, () => [
    `${person.email} has the role ${person.role} (revision ${person.revision}).`,
  ]);
}

async function setDisabled({ config, screen }: Context, who: string, disabled: boolean): Promise<void> {
  const server = await requireServer(config);
  const { id, revision } = await findPerson(server, who);
  const person = await server.person.setDisabled.mutate({ id, disabled, revision });
  screen.answer({ type: "person", person }, () => [
    `${person.email} is ${disabled ? "disabled; every session has ended" : "enabled"} (revision ${person.revision}).`,
  ]);
}

async function resetSignIn({ config, screen }: Context, who: string): Promise<void> {
  const server = await requireServer(config);
  const { id } = await findPerson(server, who);
  const made = await server.person.resetSignIn.mutate({ id });
  screen.answer({ type: "person", ...made }, () => [
    made.link,
    `Password, sessions and tokens of ${made.person.email} have ended. The link works once, until ${minute(made.expiresAt)} UTC.`,
  ]);
}

async function signOutEverywhere({ config, screen }: Context, who: string): Promise<void> {
  const server = await requireServer(config);
  const { id, email } = await findPerson(server, who);
  const { sessionsEnded } = await server.person.signOutEverywhere.mutate({ id });
  screen.answer({ type: "person", id, sessionsEnded }, () => [
    `${sessionsEnded} sessions of ${email} have ended.`,
  ]);
}

async function removePerson({ config, screen }: Context, who: string): Promise<void> {
  const server = await requireServer(config);
  const { id, email, revision } = await findPerson(server, who);
  await server.person.remove.mutate({ id, revision });
  screen.answer({ type: "person", id, removed: true }, () => [`${email} is removed.`]);
}

/** By e-mail address or id. Errors: Failure. */
async function findPerson(server: Server, who: string): Promise<Person> {
  const people = await server.person.list.query();
  const found = people.find((person) => person.email === who.toLowerCase() || person.id === who);
  if (found) return found;
  throw new Failure(1, "NOT_FOUND", `There is no person "${who}". Look at lifeboat helm person list.`);
}
