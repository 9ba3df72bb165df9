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

const from = (address: string, email: string, password: string, cookie?: string) =>
  control.request("POST", "/api/auth/sign-in/email", {
    json: { email, password },
    headers: { origin: ORIGIN, "x-forwarded-for": address, ...(cookie ? { cookie } : {}) },
  });
const deviceOf = ({ headers }: Awaited<ReturnType<typeof from>>) =>
  headers
    .getSetCookie()
    .find((line) => line.startsWith("helm.device-"))
    ?.split(";", 1)[0] ?? "no device";
function address(): string {
  browsers += 1;
  return `203.0.${113 + Math.floor(browsers / 250)}.${browsers % 250}`;
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

  it("to one account is bounded from each place, and strangers do not shut out who comes from elsewhere", async () => {
    const person = await addPerson(control, "viewer");
    const here = address();
    const statuses: number[] = [];
    for (let i = 0; i < 11; i += 1) statuses.push((await from(here, person.email, `wrong ${i}`)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    const limited = await from(here, person.email.toUpperCase(), PASSWORD);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(60);
    expect((await from(here, (await addPerson(control, "viewer")).email, PASSWORD)).status).toBe(200);
    expect((await from(address(), person.email, PASSWORD)).status).toBe(200);
  });

  it("with wrong passwords at one time is bounded like one after the other", async () => {
    const person = await addPerson(control, "viewer");
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => from(address(), person.email, `wrong ${i}`)),
    );
    const statuses = answers.map(({ status }) => status);
    const looked = statuses.filter((status) => status === 401).length;
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThanOrEqual(30);
    // On a machine that is short of everything some find no connection in time: they were told so and looked at nothing.
    const others = statuses.filter((status) => status !== 401);
    expect(others.every((status) => status === 429 || status === 503)).toBe(true);
    expect((await from(address(), person.email, PASSWORD)).status).toBe(429);
  });

  it("from a browser that the account was signed in from goes on while strangers try", async () => {
    const person = await addPerson(control, "admin");
    const other = await addPerson(control, "viewer");
    const known = deviceOf(await from(address(), person.email, PASSWORD));
    for (let i = 0; i < 31; i += 1) await from(address(), person.email, `wrong ${i}`);
    expect((await from(address(), person.email, PASSWORD)).status).toBe(429);
    expect((await from(address(), person.email, PASSWORD, known)).status).toBe(200);

    const notKnown = [
      deviceOf(await from(address(), other.email, PASSWORD)),
      known.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
      known.replace(/\.[^.]+$/, ""),
    ];
    for (const cookie of notKnown)
      expect((await from(address(), person.email, PASSWORD, cookie)).status).toBe(429);

    for (let i = 0; i < 10; i += 1)
      expect((await from(address(), person.email, `wrong ${i}`, known)).status).toBe(401);
    expect((await from(address(), person.email, PASSWORD, known)).status).toBe(429);
  });

  it("that succeeds is not counted", async () => {
    const person = await addPerson(control, "viewer");
    const here = address();
    for (let i = 0; i < 9; i += 1) expect((await from(here, person.email, "wrong")).status).toBe(401);
    for (let i = 0; i < 3; i += 1) expect((await from(here, person.email, PASSWORD)).status).toBe(200);
    expect((await from(here, person.email, "wrong")).status).toBe(401);
    expect((await from(here, person.email, PASSWORD)).status).toBe(429);
  });

  it("takes JSON alone: what the library would read past the count is refused", async () => {
    const person = await addPerson(control, "viewer");
    const answer = await control.request("POST", "/api/auth/sign-in/email", {
      body: Buffer.from(new URLSearchParams({ email: person.email, password: PASSWORD }).toString()),
      headers: {
        origin: ORIGIN,
        "x-forwarded-for": address(),
        "content-type": "application/x-www-form-urlencoded",
      },
    });
    expect([answer.status, answer.json.error.code]).toEqual([400, "BAD_REQUEST"]);
  });

  it("that fails leaves a bounded number of rows, which name no account that does not exist", async () => {
    // Other tests' tries have used up the minute's rows.
    await control.db.rateLimit.deleteMany({ where: { key: { startsWith: "audit-sign-in" } } });
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
