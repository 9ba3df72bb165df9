import { randomUUID } from "node:crypto";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ORIGIN, SETUP_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";

let control: TestControlPlane;
const password = "correct horse battery";
const email = "admin@example.com";

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
});
afterAll(() => control.stop());

const setup = (token: string) =>
  control.request("POST", "/trpc/setup.createAdministrator", {
    json: { json: { token, email: "Admin@Example.com", name: "Admin", password } },
    headers: { origin: ORIGIN },
  });
const signIn = (origin = ORIGIN, secret = password) =>
  control.request("POST", "/api/auth/sign-in/email", {
    json: { email, password: secret },
    headers: { origin },
  });

describe("setup", () => {
  it("refuses a wrong token, takes the right one once, and is closed from then on", async () => {
    expect((await control.as("nobody").setup.status()).open).toBe(true);
    const wrong = await setup("not-the-setup-token");
    expect(wrong).toMatchObject({
      status: 401,
      json: { error: { json: { data: { helm: { code: "TOKEN_INVALID" } } } } },
    });
    const [first, second] = await Promise.all([setup(SETUP_TOKEN), setup(SETUP_TOKEN)]);
    expect([first.status, second.status].sort()).toEqual([200, 403]);
    expect((await control.as("nobody").setup.status()).open).toBe(false);
    expect(await control.db.user.count()).toBe(1);
  });

  it("has no other way to an account", async () => {
    const signUp = await control.request("POST", "/api/auth/sign-up/email", {
      json: { email: "eve@example.com", password, name: "Eve", role: "admin" },
      headers: { origin: ORIGIN },
    });
    expect(signUp.status).toBeGreaterThanOrEqual(400);
    expect(await control.db.user.count()).toBe(1);
  });
});

describe("sessions", () => {
  it("open by password, as a cookie that scripts cannot read and as a bearer token", async () => {
    expect((await signIn(ORIGIN, "a wrong password")).status).toBe(401);
    const answer = await signIn();
    expect(answer.status).toBe(200);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Lax/i);
    const me = await control.request("GET", "/trpc/session.me", {
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(me.json.result.data.json).toMatchObject({ user: { email }, role: "admin" });
    const token = answer.headers.get("set-auth-token") ?? "";
    const byToken = await control.request("GET", "/trpc/session.me", { bearer: token });
    expect(byToken.status).toBe(200);
    expect((await control.request("GET", "/trpc/session.me")).status).toBe(401);
    // A console that opens asks who it is for: nobody is an answer.
    const nobody = await control.request("GET", "/trpc/session.current");
    expect([nobody.status, nobody.json]).toEqual([200, { result: { data: { json: null } } }]);
    const unknown = `lifeboat_${"y".repeat(43)}`;
    const shown = await control.request("GET", "/trpc/session.current", { bearer: unknown });
    expect(shown.status).toBe(401);
    // The command line's way out: the token alone, no cookie and no origin.
    const out = await control.request("POST", "/api/auth/sign-out", { bearer: token, json: {} });
    expect(out.status).toBe(200);
    expect((await control.request("GET", "/trpc/session.me", { bearer: token })).status).toBe(401);
  });

  it("change nothing for another site's page", async () => {
    const cookie = ((await signIn()).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const change = (origin?: string) =>
      control.request("POST", "/trpc/tenant.create", {
        json: { json: { name: `t-${randomUUID().slice(0, 8)}` } },
        headers: { cookie, ...(origin ? { origin } : {}) },
      });
    expect((await change("https://evil.example")).status).toBe(403);
    expect((await change()).status).toBe(403);
    expect((await change(ORIGIN)).status).toBe(200);
    expect((await signIn("https://evil.example")).status).toBe(403);
  });

  it("are not opened with a body of unstated length", async () => {
    const text = new TextEncoder().encode(JSON.stringify({ email, password }));
    const answer = await fetch(`${control.url}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { origin: ORIGIN, "content-type": "application/json" },
      body: new Blob([text]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(answer.status).toBe(400);
    await answer.text();
  });

  it("open the console's socket, not for another site, and it is cut when they end", async () => {
    const cookie = ((await signIn()).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const connect = (headers: Record<string, string>) =>
      new Promise<{ ok: boolean; socket: ReturnType<typeof io> }>((resolve) => {
        const socket = io(`${control.url}/console`, {
          transports: ["websocket"],
          extraHeaders: headers,
          reconnection: false,
          addTrailingSlash: false,
          forceNew: true,
        });
        socket.on("connect", () => resolve({ ok: true, socket }));
        socket.on("connect_error", () => resolve({ ok: false, socket }));
      });
    expect((await connect({ origin: ORIGIN })).ok).toBe(false);
    expect((await connect({ origin: "https://evil.example", cookie })).ok).toBe(false);
    const { ok, socket } = await connect({ origin: ORIGIN, cookie });
    expect(ok).toBe(true);
    // An ack that is no function must not bring the server down.
    socket.emit("follow", { calibration: randomUUID() }, "no function");
    expect(await socket.emitWithAck("follow", { calibration: randomUUID() })).toEqual({
      ok: false,
      code: "NOT_FOUND",
    });
    const cut = new Promise((resolve) => socket.on("disconnect", resolve));
    const out = await control.request("POST", "/api/auth/sign-out", {
      json: {},
      headers: { cookie, origin: ORIGIN },
    });
    expect(out.status).toBe(200);
    await cut;
  });
});

describe("errors", () => {
  it("carry a code, a sentence and the request's id", async () => {
    const answer = await control.request("GET", "/trpc/session.me");
    expect(answer.json.error.json).toMatchObject({
      message: "Sign in first.",
      data: { helm: { code: "UNAUTHENTICATED", requestId: answer.headers.get("x-request-id") } },
    });
    expect(JSON.stringify(answer.json)).not.toContain("stack");
    expect((await control.request("GET", "/nowhere")).json.error.code).toBe("NOT_FOUND");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });
});
