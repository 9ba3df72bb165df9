import { randomUUID } from "node:crypto";
import type { Role } from "@helm/contracts";
import { hashPassword } from "better-auth/crypto";
import { makeToken } from "../token/token-text";
import type { TestControlPlane } from "./control-plane";
import { ORIGIN } from "./names";

export const PASSWORD = "correct horse battery staple";
// Once for all: a password's digest is slow on purpose.
const hashed = hashPassword(PASSWORD);

/** A person who can sign in, as a row. */
export async function addPerson(
  control: Pick<TestControlPlane, "db">,
  role: Role,
  id: string = randomUUID(),
) {
  const email = `${role}-${id.slice(-12)}@example.com`;
  await control.db.user.create({ data: { id, email, name: role, role } });
  await control.db.account.create({
    data: { userId: id, accountId: id, providerId: "credential", password: await hashed },
  });
  return { id, email, role };
}

export async function signIn(control: Pick<TestControlPlane, "request">, email: string, password = PASSWORD) {
  const answer = await control.request("POST", "/api/auth/sign-in/email", {
    json: { email, password },
    headers: { origin: ORIGIN },
  });
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { status: answer.status, cookie, bearer: answer.headers.get("set-auth-token") ?? "", answer };
}

/** A personal token as a row, with what its holder sends. */
export async function addToken(
  control: TestControlPlane,
  personId: string,
  changes: { expiresAt?: Date; revokedAt?: Date } = {},
) {
  const { token, start, digest } = await makeToken();
  const expiresAt = new Date(Date.now() + 86_400_000);
  const row = await control.db.personalToken.create({
    data: { referenceId: personId, name: "test", start, key: digest, expiresAt, ...changes },
  });
  return { id: row.id, token };
}

/** What a person holds who has signed in and made a token. */
export async function addSignedIn(control: TestControlPlane, role: Role) {
  const person = await addPerson(control, role);
  const { cookie, bearer } = await signIn(control, person.email);
  const { token, id: tokenId } = await addToken(control, person.id);
  return { ...person, cookie, bearer, token, tokenId };
}

export type SignedIn = Awaited<ReturnType<typeof addSignedIn>>;

/** Calls a procedure over HTTP, as the console does. */
export async function callHttp(
  control: TestControlPlane,
  path: string,
  {
    input,
    type,
    headers = {},
  }: { input?: unknown; type: "query" | "mutation"; headers?: Record<string, string> },
) {
  const wrapped = { json: input };
  if (type === "mutation") return control.request("POST", `/trpc/${path}`, { json: wrapped, headers });
  const query = input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify(wrapped))}`;
  return control.request("GET", `/trpc/${path}${query}`, { headers });
}
