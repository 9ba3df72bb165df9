import type { Role } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addPerson, addSignedIn, callHttp, PASSWORD, type SignedIn, signIn } from "../testing/people";

let control: TestControlPlane;
let admin: SignedIn;

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  admin = await addSignedIn(control, "admin");
});
afterAll(() => control.stop());

const as = (person: SignedIn) => ({ authorization: `Bearer ${person.bearer}` });
const cookieOf = (person: SignedIn) => ({ cookie: person.cookie });
const tokenOf = (person: SignedIn) => ({ authorization: `Bearer ${person.token}` });
const me = (headers: Record<string, string>) => callHttp(control, "session.me", { type: "query", headers });
const change = (path: string, input: unknown, headers: Record<string, string> = as(admin)) =>
  callHttp(control, path, { type: "mutation", input, headers });
const codeOf = (answer: { json: { error?: { json: { data: { helm: { code: string } } } } } }) =>
  answer.json.error?.json.data.helm.code ?? "OK";
const revisionOf = async (id: string) =>
  (await control.db.user.findUniqueOrThrow({ where: { id } })).revision;

describe("an invitation", () => {
  it("gives a new person a password once, also when two use it at once", async () => {
    const made = await control
      .as("admin")
      .person.create({ email: "Olu@Example.com", name: "Olu", role: "operator" });
    expect(made.person).toMatchObject({ email: "olu@example.com", role: "operator", state: "INVITED" });
    // Behind the #: no server, proxy or log on the way is sent it.
    const [page, token = ""] = made.link.split("#");
    expect(page).toMatch(/\/welcome$/);
    expect((await signIn(control, "olu@example.com")).status).toBe(401);
    const short = await change("invitation.accept", { token, password: "too short" }, {});
    expect(short.status).toBe(400);
    const tries = await Promise.all(
      [1, 2, 3].map(() => change("invitation.accept", { token, password: PASSWORD }, {})),
    );
    expect(tries.map(codeOf).sort()).toEqual(["OK", "TOKEN_INVALID", "TOKEN_INVALID"]);
    expect((await signIn(control, "olu@example.com")).status).toBe(200);
    const rows = JSON.stringify(await control.db.invitation.findMany());
    expect(rows).not.toContain(token);
    const again = control
      .as("admin")
      .person.create({ email: "olu@example.com", name: "Olu", role: "viewer" });
    await expect(again).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("opens nothing once it is cancelled, expired or replaced, or its person disabled", async () => {
    const make = async (email: string) =>
      control.as("admin").person.create({ email, name: "x", role: "viewer" });
    const accept = async (link: string) =>
      codeOf(await change("invitation.accept", { token: link.split("#")[1], password: PASSWORD }, {}));
    const cancelled = await make("cancelled@example.com");
    await control.as("admin").invitation.cancel({ id: cancelled.person.invitation?.id ?? "" });
    expect(await accept(cancelled.link)).toBe("TOKEN_INVALID");
    const expired = await make("expired@example.com");
    await control.db.invitation.updateMany({
      where: { userId: expired.person.id },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    expect(await accept(expired.link)).toBe("TOKEN_INVALID");
    const replaced = await make("replaced@example.com");
    const newer = await control.as("admin").person.resetSignIn({ id: replaced.person.id });
    expect(await accept(replaced.link)).toBe("TOKEN_INVALID");
    const disabled = await make("disabled@example.com");
    await control.as("admin").person.setDisabled({ id: disabled.person.id, disabled: true, revision: 1 });
    expect(await accept(disabled.link)).toBe("TOKEN_INVALID");
    expect(await accept(newer.link)).toBe("OK");
  });
});

describe("a role", () => {
  it("holds from the next request on, by cookie, session and personal token", async () => {
    const person = await addSignedIn(control, "viewer");
    const ways: Record<string, string>[] = [cookieOf(person), as(person), tokenOf(person)];
    for (const role of ["operator", "admin", "viewer"] as Role[]) {
      const set = await change("person.setRole", {
        id: person.id,
        role,
        revision: await revisionOf(person.id),
      });
      expect(codeOf(set)).toBe("OK");
      for (const headers of ways) {
        const { role: found } = (await me(headers)).json.result.data.json;
        expect(found).toBe(role);
      }
    }
  });

  it("is a real conflict for the second of two who edit, with what is there now", async () => {
    const person = await addPerson(control, "viewer");
    const set = (role: Role) => change("person.setRole", { id: person.id, role, revision: 1 });
    const both = await Promise.all([set("operator"), set("admin")]);
    expect(both.map(codeOf).sort()).toEqual(["CONFLICT", "OK"]);
    const conflict = both.find((answer) => codeOf(answer) === "CONFLICT");
    const now = await control.db.user.findUniqueOrThrow({ where: { id: person.id } });
    expect(conflict?.json.error.json.data.helm.details).toMatchObject({ revision: 2, role: now.role });
  });
});

describe("the last administrator", () => {
  it("cannot be demoted, disabled, reset or removed", async () => {
    const alone = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
    try {
      const only = await addPerson(alone, "admin");
      // Neither of these could sign in and put things right.
      await alone.db.user.create({ data: { email: "invited@example.com", name: "x", role: "admin" } });
      const off = await addPerson(alone, "admin");
      await alone.db.user.update({ where: { id: off.id }, data: { disabledAt: new Date() } });
      const { person } = alone.as("admin");
      const { id } = only;
      for (const attempt of [
        () => person.setRole({ id, role: "operator", revision: 1 }),
        () => person.setDisabled({ id, disabled: true, revision: 1 }),
        () => person.resetSignIn({ id }),
        () => person.remove({ id, revision: 1 }),
      ])
        await expect(attempt()).rejects.toMatchObject({ cause: { code: "LAST_ADMIN" } });
      expect(await alone.db.user.findUnique({ where: { id } })).toMatchObject({
        role: "admin",
        disabledAt: null,
      });
    } finally {
      await alone.stop();
    }
  });

  it("stays also when all administrators are demoted, disabled and removed at the same moment", async () => {
    const alone = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
    try {
      for (let round = 0; round < 5; round += 1) {
        await alone.db.user.deleteMany();
        const people = await Promise.all([1, 2, 3].map(() => addPerson(alone, "admin")));
        const [a, b, c] = people.map((one) => one.id) as [string, string, string];
        const { person } = alone.as("admin");
        const settled = await Promise.allSettled([
          person.setRole({ id: a, role: "viewer", revision: 1 }),
          person.setDisabled({ id: b, disabled: true, revision: 1 }),
          person.remove({ id: c, revision: 1 }),
        ]);
        expect(settled.filter((one) => one.status === "rejected")).toHaveLength(1);
        expect(await alone.db.user.count({ where: { role: "admin", disabledAt: null } })).toBe(1);
      }
    } finally {
      await alone.stop();
    }
  });
});

describe("who is disabled or removed", () => {
  it("is out at once by every way, and back with the same password once enabled", async () => {
    const person = await addSignedIn(control, "operator");
    const ways: Record<string, string>[] = [cookieOf(person), as(person), tokenOf(person)];
    const statuses = async () => Promise.all(ways.map(async (headers) => (await me(headers)).status));
    expect(await statuses()).toEqual([200, 200, 200]);
    await change("person.setDisabled", { id: person.id, disabled: true, revision: 1 });
    expect(await statuses()).toEqual([401, 401, 401]);
    const refused = await signIn(control, person.email);
    expect([refused.status, refused.answer.json.code]).toEqual([403, "DISABLED"]);
    await change("person.setDisabled", { id: person.id, disabled: false, revision: 2 });
    // The sessions ended for good; the token is the person's again.
    expect(await statuses()).toEqual([401, 401, 200]);
    expect((await signIn(control, person.email)).status).toBe(200);
    await change("person.remove", { id: person.id, revision: 3 });
    expect(await statuses()).toEqual([401, 401, 401]);
    expect((await signIn(control, person.email)).status).toBe(401);
    expect(await control.db.personalToken.count({ where: { referenceId: person.id } })).toBe(0);
    const audit = await control.db.auditEntry.findMany({ where: { entityId: person.id } });
    expect(audit.map((row) => row.verb)).toContain("person.remove");
  });

  it("has no sign-in left after a reset", async () => {
    const person = await addSignedIn(control, "operator");
    const reset = await change("person.resetSignIn", { id: person.id });
    expect(reset.json.result.data.json.person.state).toBe("INVITED");
    for (const headers of [cookieOf(person), tokenOf(person)]) expect((await me(headers)).status).toBe(401);
    expect((await signIn(control, person.email)).status).toBe(401);
  });
});
