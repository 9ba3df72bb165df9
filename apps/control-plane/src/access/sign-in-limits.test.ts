import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ORIGIN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addPerson, callHttp, PASSWORD, signIn } from "../testing/people";

let control: TestControlPlane;
// As the start command's console passes browsers on: each test is another browser.
let browsers = 0;

beforeAll(async () => {
  control = await testControlPlane({ HELM_TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(() => control.stop());

const from = (address: string, email: string, password: string) =>
  control.request("POST", "/api/auth/sign-in/email", {
    json: { email, password },
    headers: { origin: ORIGIN, "x-forwarded-for": address },
  });
function address(): string {
  browsers += 1;
  return `203.0.113.${browsers}`;
}

describe("sign-in", () => {
  it("from one address is bounded: 429, with how many seconds to wait", async () => {
    const person = await addPerson(control, "viewer");
    const here = address();
    const statuses: number[] = [];
    for (let i = 0; i < 22; i += 1)
      statuses.push((await from(here, `nobody-${i}@example.com`, "wrong")).status);
    expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true);
    const limited = await from(here, person.email, PASSWORD);
    expect(limited.status).toBe(429);
    const wait = Number(limited.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(limited.json.error.message).toMatch(/Wait \d+ seconds/);
    expect((await from(address(), person.email, PASSWORD)).status).toBe(200);
  });

  it("to one account is bounded too, from wherever it is tried", async () => {
    const person = await addPerson(control, "viewer");
    const statuses: number[] = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await from(address(), person.email, `wrong ${i}`)).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    const limited = await from(address(), person.email.toUpperCase(), PASSWORD);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(60);
    const other = await addPerson(control, "viewer");
    expect((await from(address(), other.email, PASSWORD)).status).toBe(200);
  });

  it("that fails leaves a bounded number of rows, which name no account that does not exist", async () => {
    const before = await control.db.auditEntry.count({ where: { verb: "session.signInFailed" } });
    const here = address();
    for (let i = 0; i < 15; i += 1) await from(here, `my-secret-password-${i}@example.com`, "wrong");
    const rows = await control.db.auditEntry.findMany({ where: { verb: "session.signInFailed" } });
    const mine = rows.filter((row) => JSON.stringify(row).includes(here));
    expect(mine).toHaveLength(10);
    expect(rows.length - before).toBe(10);
    expect(JSON.stringify(rows)).not.toContain("my-secret-password");
    expect(mine[0]).toMatchObject({ actorName: "nobody", entity: "session", after: { as: "no account" } });
    expect(mine.every((row) => row.requestId !== "")).toBe(true);
  });

  it("and sign-out that succeed leave a row each, with where from", async () => {
    const person = await addPerson(control, "viewer");
    const here = address();
    const answer = await from(here, person.email, PASSWORD);
    const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    await control.request("POST", "/api/auth/sign-out", { json: {}, headers: { cookie, origin: ORIGIN } });
    const rows = await control.db.auditEntry.findMany({
      where: { actorId: person.id },
      orderBy: { id: "asc" },
    });
    expect(rows.map((row) => row.verb)).toEqual(["session.signIn", "session.signOut"]);
    expect(rows[0]).toMatchObject({ actorName: person.email, after: { address: here } });
    expect(rows[0]?.requestId).toBe(answer.headers.get("x-request-id"));
  });
});

describe("setup and invitations", () => {
  it("are bounded: 429 with Retry-After", async () => {
    const tried = async (path: string, input: unknown) => {
      let last = await callHttp(control, path, { type: "mutation", input });
      for (let i = 0; i < 35 && last.status !== 429; i += 1)
        last = await callHttp(control, path, { type: "mutation", input });
      return last;
    };
    const password = "long enough a password";
    const setup = await tried("setup.createAdministrator", {
      token: "x",
      email: "a@example.com",
      name: "A",
      password,
    });
    const invitation = await tried("invitation.accept", { token: "invite_wrong", password });
    for (const answer of [setup, invitation]) {
      expect(answer.status).toBe(429);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
  });
});

it("says the same of a wrong password and of an account that does not exist", async () => {
  const person = await addPerson(control, "viewer");
  const [wrong, none] = [
    await from(address(), person.email, "wrong"),
    await from(address(), "no@example.com", "wrong"),
  ];
  expect([wrong.status, wrong.json]).toEqual([none.status, none.json]);
  expect((await signIn(control, person.email)).status).toBe(200);
});
