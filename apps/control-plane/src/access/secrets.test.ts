import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { redactConfig } from "../config";
import { appRouter } from "../router";
import {
  NODE_TOKEN,
  ORIGIN,
  SETUP_TOKEN,
  type TestControlPlane,
  testControlPlane,
  WORKER_TOKEN,
} from "../testing/control-plane";
import { callHttp } from "../testing/people";

const AUTH_SECRET = "an-auth-secret-that-nobody-may-see-anywhere";
const METRICS_TOKEN = "a-metrics-token-that-nobody-may-see";
const PASSWORDS = [
  "first-password-nobody-sees",
  "second-password-nobody-sees",
  "third-password-nobody-sees",
] as const;
const WRONG = "wrong-password-nobody-sees-either";

type Procedure = { _def: { type: "query" | "mutation" } };
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).map(
  ([path, procedure]) => [path, procedure._def.type] as const,
);

let control: TestControlPlane;
const log: string[] = [];
/** Everything that was ever answered, but for the one answer that shows a secret this once. */
const answers: string[] = [];
const secrets: Record<string, string> = {
  "the setup token": SETUP_TOKEN,
  "the auth secret": AUTH_SECRET,
  "the metrics token": METRICS_TOKEN,
  "a bootstrap join token of a worker": WORKER_TOKEN,
  "a bootstrap join token of a node": NODE_TOKEN,
  "the first password": PASSWORDS[0],
  "the second password": PASSWORDS[1],
  "the third password": PASSWORDS[2],
  "a wrong password": WRONG,
};

beforeAll(async () => {
  control = await testControlPlane(
    {
      HELM_AUTH_RATE_LIMIT: "false",
      HELM_AUTH_SECRET: AUTH_SECRET,
      HELM_METRICS_TOKEN: METRICS_TOKEN,
      HELM_LOG_LEVEL: "trace",
    },
    undefined,
    { write: (line) => log.push(line) },
  );
});
afterAll(() => control.stop());

type Answer = Awaited<ReturnType<TestControlPlane["request"]>>;

function keep(answer: Answer): Answer {
  answers.push(`${JSON.stringify([...answer.headers])}${answer.bytes.toString("utf8")}`);
  return answer;
}

async function change(path: string, input: unknown, headers: Record<string, string> = {}, shownOnce = false) {
  const answer = await callHttp(control, path, { type: "mutation", input, headers });
  return shownOnce ? answer : keep(answer);
}

const data = (answer: Answer) => answer.json.result.data.json;

async function signIn(email: string, password: string) {
  const answer = await control.request("POST", "/api/auth/sign-in/email", {
    json: { email, password },
    headers: { origin: ORIGIN },
  });
  if (answer.status !== 200) {
    keep(answer);
    return {};
  }
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const bearer = answer.headers.get("set-auth-token") ?? "";
  secrets[`a session of ${email} (${Object.keys(secrets).length})`] = bearer;
  secrets[`a session's cookie (${Object.keys(secrets).length})`] = cookie.split("=")[1] ?? "";
  return { authorization: `Bearer ${bearer}` };
}

async function join(token: string, kind = "worker") {
  const answer = await control.request("POST", "/api/hosts/join", {
    json: {
      kind,
      join_token: token,
      name: "w",
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [{ vendor: "none", name: "none", capability: null }],
    },
  });
  if (answer.status !== 200) return keep(answer);
  secrets["a host's credential"] = answer.json.credential;
  return answer;
}

let admin: Record<string, string> = {};
const viewer: Record<string, string> = {};

/** Every verb that makes or takes a secret, done right and done wrong. */
async function live(): Promise<void> {
  const first = { email: "ada@example.com", name: "Ada", password: PASSWORDS[0] };
  await change("setup.createAdministrator", { ...first, token: `${SETUP_TOKEN}x` });
  await change("setup.createAdministrator", { ...first, token: SETUP_TOKEN });
  await signIn(first.email, WRONG);
  await signIn(WRONG, WRONG);
  await signIn(`${PASSWORDS[0]}@example.com`, WRONG);
  admin = (await signIn(first.email, PASSWORDS[0])) as typeof admin;
  const made = data(
    await change("person.create", { email: "vera@example.com", name: "V", role: "viewer" }, admin, true),
  );
  secrets["an invitation"] = made.link.split("#")[1];
  await change("invitation.accept", { token: secrets["an invitation"], password: "short" });
  await change("invitation.accept", { token: `${secrets["an invitation"]}x`, password: PASSWORDS[1] });
  await change("invitation.accept", { token: secrets["an invitation"], password: PASSWORDS[1] });
  await change("invitation.accept", { token: secrets["an invitation"], password: PASSWORDS[1] });
  Object.assign(viewer, await signIn("vera@example.com", PASSWORDS[1]));
  await change("account.changePassword", { current: WRONG, next: PASSWORDS[2] }, viewer);
  await change("account.changePassword", { current: PASSWORDS[1], next: PASSWORDS[2] }, viewer);
  const token = data(await change("token.create", { name: "laptop", days: 3 }, admin, true)).token;
  secrets["a personal token"] = token;
  keep(
    await callHttp(control, "account.get", { type: "query", headers: { authorization: `Bearer ${token}` } }),
  );
  keep(
    await callHttp(control, "account.get", { type: "query", headers: { authorization: `Bearer ${token}x` } }),
  );
  const tenant = data(await change("tenant.create", { name: "acme" }, admin));
  const key = data(await change("key.create", { tenantId: tenant.id, name: "ci" }, admin, true));
  secrets["a tenant's API key"] = key.key;
  const joining = data(await change("host.createJoinToken", { kind: "worker" }, admin, true)).token;
  secrets["a join token"] = joining;
  await join(`${joining}x`);
  await join(joining);
  await join(joining);
  const reset = data(await change("person.resetSignIn", { id: made.person.id }, admin, true));
  secrets["a second invitation"] = reset.link.split("#")[1];
}

/** Every procedure and address, with every secret in every place where one could be sent by mistake. */
async function misuse(): Promise<void> {
  const all = Object.values(secrets);
  const poisoned = Object.fromEntries(
    ["token", "password", "current", "next", "key", "secret", "credential", "nothing"].map((field, i) => [
      field,
      all[i % all.length],
    ]),
  );
  const every = Object.fromEntries(all.map((secret, i) => [`x${i}`, secret]));
  for (const [path, type] of procedures) {
    const shown = [admin, {}, { authorization: `Bearer ${all.join(".")}` }];
    const inputs = [{ ...poisoned, ...every }, all];
    const calls = shown.flatMap((headers) =>
      inputs.map((input) =>
        callHttp(control, path, { type, input, headers: headers as Record<string, string> }),
      ),
    );
    const broken = control.request("POST", `/trpc/${path}`, {
      body: Buffer.from(`{"json": {"password": "${all.join('", "')}`),
      headers: { ...admin, "content-type": "application/json" },
    });
    for (const answer of await Promise.all([...calls, broken])) keep(answer);
  }
  for (const { method, path } of control.endpoints) {
    const json = method === "GET" || method === "HEAD" ? {} : { json: { ...poisoned, ...every } };
    const calls = all.map((secret) =>
      control.request(method, path, { headers: { authorization: `Bearer ${secret}` }, ...json }),
    );
    for (const answer of await Promise.all(calls)) keep(answer);
  }
}

/** All that anyone can read afterwards. */
async function readAll(): Promise<void> {
  const ids = (await control.db.tenant.findMany()).map((row) => row.id);
  for (const [path, type] of procedures) {
    if (type !== "query") continue;
    for (const headers of [admin, viewer])
      for (const input of [undefined, {}, { tenantId: ids[0] }, { id: ids[0] }])
        keep(await callHttp(control, path, { type, input, headers }));
  }
  keep(await control.request("GET", "/metrics", { headers: { authorization: `Bearer ${METRICS_TOKEN}` } }));
}

function found(texts: string[]): string[] {
  const text = texts.join("\n");
  return Object.entries(secrets)
    .filter(([, secret]) => secret !== "" && text.includes(secret))
    .map(([name]) => name);
}

async function tables(): Promise<[string, string][]> {
  const names = await control.db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  return Promise.all(
    names.map(async ({ name }): Promise<[string, string]> => {
      const rows = await control.db.$queryRawUnsafe<{ row: string }[]>(
        `SELECT to_jsonb(t)::text AS row FROM "${name}" t`,
      );
      return [name, rows.map(({ row }) => row).join("\n")];
    }),
  );
}

describe("secrets", () => {
  it("stand in no log, no audit row, no other table and no answer, whatever was done, right or wrong", async () => {
    await live();
    expect(Object.keys(secrets).length).toBeGreaterThan(18);
    await misuse();
    await readAll();
    expect(log.length).toBeGreaterThan(300);
    expect(answers.length).toBeGreaterThan(500);
    expect(found(log)).toEqual([]);
    expect(found(answers)).toEqual([]);
    expect(found([JSON.stringify(redactConfig(control.services.config))])).toEqual([]);
    const audit = await control.db.auditEntry.findMany();
    expect(audit.length).toBeGreaterThan(15);
    expect(found([JSON.stringify(audit)])).toEqual([]);
    for (const [name, rows] of await tables()) expect([name, found([rows])]).toEqual([name, []]);
  });

  it("nor where the database fails in the middle of handling them", async () => {
    log.length = 0;
    answers.length = 0;
    const gone = ["account", "personal_token", "api_key", "join_token", "invitation", "host", "audit_entry"];
    for (const table of gone)
      await control.db.$executeRawUnsafe(`ALTER TABLE "${table}" RENAME TO "${table}_gone"`);
    const tenant = await control.db.tenant.findFirstOrThrow();
    const tried = [
      await change("token.create", { name: "x", days: 1 }, admin),
      await change("key.create", { tenantId: tenant.id, name: "x" }, admin),
      await change("host.createJoinToken", { kind: "node" }, admin),
      await change("account.changePassword", { current: PASSWORDS[0], next: PASSWORDS[1] }, admin),
      await change("invitation.accept", { token: secrets["a second invitation"], password: PASSWORDS[1] }),
      await change("person.create", { email: "n@example.com", name: "N", role: "viewer" }, admin),
      keep(await control.request("GET", "/trpc/account.get", { bearer: secrets["a personal token"] ?? "" })),
      keep(await join(secrets["a join token"] ?? "")),
    ];
    const printed = vi.spyOn(console, "error");
    const { status, json } = await control.request("POST", "/api/auth/sign-in/email", {
      json: { email: "ada@example.com", password: PASSWORDS[0] },
      headers: { origin: ORIGIN },
    });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(json.error.request_id).toMatch(/^[0-9a-f-]{36}$/);
    // All that is written goes through the log, which knows what to leave out.
    expect(printed).not.toHaveBeenCalled();
    expect(tried.map((answer) => answer.status >= 500)).toEqual(tried.map(() => true));
    expect(log.some((line) => line.includes('"level":50'))).toBe(true);
    expect(found(log)).toEqual([]);
    expect(found(answers)).toEqual([]);
    // Nor the digest of a password, which is what a printed query would hold.
    expect(log.join("")).not.toMatch(/[0-9a-f]{32}:[0-9a-f]{128}/);
    for (const table of gone)
      await control.db.$executeRawUnsafe(`ALTER TABLE "${table}_gone" RENAME TO "${table}"`);
  });
});
