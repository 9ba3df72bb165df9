import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUTH_ROUTES } from "../http/auth-door";
import type { Endpoint } from "../http/endpoint";
import { type Caller, everyCaller } from "../testing/callers";
import { ORIGIN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addPerson, PASSWORD, signIn } from "../testing/people";

let control: TestControlPlane;
let callers: Caller[];

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  callers = await everyCaller(control);
});
afterAll(() => control.stop());

/** What is open to everyone, and what it tells somebody who has no business there. */
const PUBLIC: Record<string, { status: number; why: string }> = {
  "POST /api/hosts/join": { status: 400, why: "a join token in the body is the key, and there is none" },
  "GET /api/health": { status: 200, why: "whether it runs is no secret" },
  "GET /metrics": {
    status: 200,
    why: "loopback alone here; the operator's token elsewhere (hardening.test.ts)",
  },
};

const RANK = { viewer: 1, operator: 2, admin: 3 };

const placed = (path: string) =>
  path.replace(/:sha256/g, "a".repeat(64)).replace(/:[a-z]\w*/gi, () => randomUUID());

describe("every address", () => {
  it("that is open to everyone is on the list above, and nothing else is", () => {
    const open = control.endpoints.filter((one) => one.caller === "public");
    expect(open.map((one) => `${one.method} ${one.path}`).sort()).toEqual(Object.keys(PUBLIC).sort());
  });

  it("lets in the host or the person that it is for, and nobody else whatever they show", async () => {
    expect(control.endpoints.length).toBeGreaterThan(8);
    for (const endpoint of control.endpoints) {
      const { method, path } = endpoint;
      const got: Record<string, string> = {};
      const wanted: Record<string, string> = {};
      for (const caller of callers) {
        const body = method === "GET" || method === "HEAD" ? {} : { json: {} };
        const answer = await control.request(method, placed(path), { headers: caller.headers, ...body });
        wanted[caller.name] = expected(endpoint, caller);
        got[caller.name] = [401, 403].includes(answer.status) ? String(answer.status) : "in";
        if (endpoint.caller === "public") got[caller.name] = String(answer.status);
        expect([path, caller.name, answer.status >= 500]).toEqual([path, caller.name, false]);
      }
      expect([`${method} ${path}`, got]).toEqual([`${method} ${path}`, wanted]);
    }
  });
});

function expected({ method, path, caller: meant, role }: Endpoint, caller: Caller): string {
  if (meant === "public") return String(PUBLIC[`${method} ${path}`]?.status);
  if (meant !== "person") return caller.host === meant ? "in" : "401";
  if (caller.role === null) return "401";
  return RANK[caller.role] >= RANK[role ?? "admin"] ? "in" : "403";
}

describe("better-auth's own routes", () => {
  type Route = { path?: string; options?: { method?: string | string[] } };
  const routes = () =>
    Object.values(control.auth.api as unknown as Record<string, Route>).flatMap(({ path, options }) =>
      path ? [options?.method ?? "GET"].flat().map((method) => ({ method, path: placed(path) })) : [],
    );

  it("are all closed but the two that a browser needs", async () => {
    const all = routes();
    expect(all.length).toBeGreaterThan(20);
    expect(all.map((one) => `${one.method} ${one.path}`)).toEqual(expect.arrayContaining([...AUTH_ROUTES]));
    for (const { method, path } of all) {
      if (AUTH_ROUTES.has(`${method} ${path}`)) continue;
      for (const caller of callers) {
        const body = method === "GET" ? {} : { json: {} };
        const answer = await control.request(method, `/api/auth${path}`, {
          headers: caller.headers,
          ...body,
        });
        expect([method, path, caller.name, answer.status]).toEqual([method, path, caller.name, 404]);
      }
    }
  });

  it("of those two, no other site's page gets anything", async () => {
    const admin = await addPerson(control, "admin");
    const { cookie } = await signIn(control, admin.email);
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: ORIGIN, "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign) {
      const json = { email: admin.email, password: PASSWORD };
      const stolen = await control.request("POST", "/api/auth/sign-in/email", { headers, json });
      expect([headers, stolen.status, stolen.headers.get("set-cookie")]).toEqual([headers, 403, null]);
      const out = await control.request("POST", "/api/auth/sign-out", {
        headers: { ...headers, cookie },
        json: {},
      });
      expect(out.status).toBe(403);
    }
    const silent = await control.request("POST", "/api/auth/sign-out", { headers: { cookie }, json: {} });
    expect(silent.status).toBe(403);
    expect((await control.request("GET", "/trpc/session.me", { headers: { cookie } })).status).toBe(200);
  });
});

describe("a session", () => {
  it("is a new one at every sign-in, whatever cookie came along", async () => {
    const person = await addPerson(control, "viewer");
    const first = await signIn(control, person.email);
    const planted = "helm.session_token=planted.by-somebody-else";
    const again = await control.request("POST", "/api/auth/sign-in/email", {
      json: { email: person.email, password: PASSWORD },
      headers: { origin: ORIGIN, cookie: planted },
    });
    const cookie = (again.headers.get("set-cookie") ?? "").split(";")[0];
    expect(again.status).toBe(200);
    expect(cookie).not.toBe(planted);
    expect(cookie).not.toBe(first.cookie);
    expect(await control.db.session.count({ where: { userId: person.id } })).toBe(2);
  });

  it("is carried by a cookie that no script reads, no other site sends, and no plain connection carries", async () => {
    const person = await addPerson(control, "viewer");
    const set = (await signIn(control, person.email)).answer.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^helm\.session_token=/);
    for (const part of [/; HttpOnly/i, /; SameSite=Lax/i, /; Path=\//i]) expect(set).toMatch(part);
    const secure = await control.restart({
      secureCookies: true,
      port: 0,
      publicUrl: "https://helm.example.com",
    });
    try {
      const answer = await fetch(`${secure.url}/api/auth/sign-in/email`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: ORIGIN },
        body: JSON.stringify({ email: person.email, password: PASSWORD }),
      });
      const safe = answer.headers.get("set-cookie") ?? "";
      await answer.text();
      expect(safe).toMatch(/^__Secure-helm\.session_token=/);
      expect(safe).toMatch(/; Secure/i);
    } finally {
      await secure.stop();
    }
  });

  it("ends all others when the password changes, with the old one good for nothing", async () => {
    const person = await addPerson(control, "operator");
    const [here, there] = [await signIn(control, person.email), await signIn(control, person.email)];
    const change = (current: string) =>
      control.request("POST", "/trpc/account.changePassword", {
        json: { json: { current, next: "quite another long password" } },
        headers: { cookie: here.cookie, origin: ORIGIN },
      });
    expect((await change("not the password")).status).toBe(400);
    expect((await change(PASSWORD)).json.result.data.json).toEqual({ sessionsEnded: 1 });
    const me = async (cookie: string) =>
      (await control.request("GET", "/trpc/session.me", { headers: { cookie } })).status;
    expect([await me(here.cookie), await me(there.cookie)]).toEqual([200, 401]);
    expect((await signIn(control, person.email)).status).toBe(401);
    expect((await signIn(control, person.email, "quite another long password")).status).toBe(200);
  });
});

describe("a join token", () => {
  const join = (token: string) =>
    control.request("POST", "/api/hosts/join", {
      json: {
        kind: "worker",
        join_token: token,
        name: "w",
        version: "0.1.0",
        device: "cpu",
        hardware: "none",
        devices: [{ vendor: "none", name: "none", capability: null }],
      },
    });

  it("lets one host in of eight that try at once, and is gone from the list of open ones", async () => {
    const { id, token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
    const openIds = async () => (await control.as("viewer").host.joinTokens()).map((one) => one.id);
    expect(await openIds()).toContain(id);
    const tries = await Promise.all(Array.from({ length: 8 }, () => join(token)));
    expect(tries.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(401)]);
    expect(await openIds()).not.toContain(id);
  });

  it("lets nobody in once it is cancelled or over", async () => {
    const cancelled = await control.as("admin").host.createJoinToken({ kind: "worker" });
    await control.as("admin").host.cancelJoinToken({ id: cancelled.id });
    expect((await join(cancelled.token)).json.error.code).toBe("TOKEN_INVALID");
    const over = await control.as("admin").host.createJoinToken({ kind: "worker" });
    expect(over.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(60 * 60_000);
    await control.db.joinToken.update({
      where: { id: over.id },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    expect((await join(over.token)).json.error.code).toBe("TOKEN_INVALID");
    const again = control.as("admin").host.cancelJoinToken({ id: cancelled.id });
    await expect(again).rejects.toMatchObject({ code: "CONFLICT" });
  });
});
