import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addPerson, addSignedIn, addToken, callHttp, type SignedIn } from "../testing/people";

let control: TestControlPlane;
let admin: SignedIn;

beforeAll(async () => {
  control = await testControlPlane();
  admin = await addSignedIn(control, "admin");
});
afterAll(() => control.stop());

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const call = (path: string, type: "query" | "mutation", headers: Record<string, string>, input?: unknown) =>
  callHttp(control, path, { type, input, headers });

describe("a personal token", () => {
  it("is shown once, kept as a digest, and says of itself who, until when and last used", async () => {
    const made = await call("token.create", "mutation", bearer(admin.bearer), { name: "laptop", days: 7 });
    const { id, token, start } = made.json.result.data.json;
    expect(token).toMatch(/^lifeboat_[A-Za-z0-9_-]{43}$/);
    const row = await control.db.personalToken.findUniqueOrThrow({ where: { id } });
    expect(JSON.stringify(row)).not.toContain(token);
    expect(row.start).toBe(token.slice(0, 15));
    expect(row.lastRequest).toBeNull();
    const account = await call("account.get", "query", bearer(token));
    expect(account.json.result.data.json).toMatchObject({
      email: admin.email,
      role: "admin",
      by: "token",
      token: { id, name: "laptop", start },
    });
    const listed = await call("token.list", "query", bearer(admin.bearer));
    const found = listed.json.result.data.json.find((one: { id: string }) => one.id === id);
    expect(found).toMatchObject({ state: "LIVE", start });
    expect(found.lastUsedAt).not.toBeNull();
    expect(JSON.stringify(listed.json)).not.toContain(token);
  });

  it("leaves nothing behind that opens without it, and reaches no administrator", async () => {
    const by = bearer(admin.token);
    const refused = async (path: string, input: unknown) => {
      const answer = await call(path, "mutation", by, input);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.json.error.json.message).toMatch(/personal token cannot/);
    };
    await refused("token.create", { name: "more", days: 1 });
    await refused("account.changePassword", { current: "x", next: "another long password" });
    await refused("account.revokeSession", { id: admin.id });
    await refused("account.revokeOtherSessions", undefined);
    await refused("person.create", { email: "evil@example.com", name: "x", role: "admin" });
    const viewer = await addPerson(control, "viewer");
    await refused("person.setRole", { id: viewer.id, role: "admin", revision: 1 });
    const other = await addPerson(control, "admin");
    await refused("person.resetSignIn", { id: other.id });
    await refused("person.setRole", { id: other.id, role: "viewer", revision: 1 });
    await refused("person.setDisabled", { id: other.id, disabled: true, revision: 1 });
    await refused("person.remove", { id: other.id, revision: 1 });
    await refused("person.signOutEverywhere", { id: other.id });
    await refused("person.signOutEverywhere", { id: admin.id });
    const invited = await control
      .as("admin")
      .person.create({ email: "invited@example.com", name: "I", role: "admin" });
    await refused("invitation.cancel", { id: invited.person.invitation?.id });
    // Whoever holds one of these is let in without the token.
    await refused("person.create", { email: "evil@example.com", name: "x", role: "viewer" });
    await refused("person.resetSignIn", { id: viewer.id });
    await refused("host.createJoinToken", { kind: "node" });
    // What is not of administrators it may, as its person may.
    const set = await call("person.setRole", "mutation", by, {
      id: viewer.id,
      role: "operator",
      revision: 1,
    });
    expect(set.status).toBe(200);
    const out = await call("person.signOutEverywhere", "mutation", by, { id: viewer.id });
    expect(out.status).toBe(200);
  });

  it("is refused from the moment it is revoked or over, and every way round to better-auth's own routes", async () => {
    const { id, token } = await addToken(control, admin.id);
    expect((await call("session.me", "query", bearer(token))).status).toBe(200);
    await call("token.revoke", "mutation", bearer(token), { id });
    const after = await call("session.me", "query", bearer(token));
    expect(after.status).toBe(401);
    expect(after.json.error.json.message).toMatch(/expired or revoked/);
    const over = await addToken(control, admin.id, { expiresAt: new Date(Date.now() - 1) });
    expect((await call("session.me", "query", bearer(over.token))).status).toBe(401);
    // It is still listed: who looks for it finds why it stopped.
    const listed = await call("token.list", "query", bearer(admin.bearer));
    const states = new Map(
      listed.json.result.data.json.map((one: { id: string; state: string }) => [one.id, one.state]),
    );
    expect([states.get(id), states.get(over.id)]).toEqual(["REVOKED", "EXPIRED"]);
    const live = await addToken(control, admin.id);
    for (const headers of [bearer(live.token), { "x-api-key": live.token }])
      for (const path of ["get-session", "api-key/list", "list-sessions"])
        expect((await control.request("GET", `/api/auth/${path}`, { headers })).status).toBe(404);
    expect((await call("session.me", "query", { "x-api-key": live.token })).status).toBe(401);
  });

  it("of another person cannot be revoked but by an administrator", async () => {
    const [one, two] = [await addSignedIn(control, "operator"), await addSignedIn(control, "viewer")];
    const revoke = (id: string, as: SignedIn) => call("token.revoke", "mutation", bearer(as.bearer), { id });
    expect((await revoke(one.tokenId, two)).status).toBe(404);
    expect((await call("session.me", "query", bearer(one.token))).status).toBe(200);
    expect((await revoke(one.tokenId, admin)).status).toBe(200);
    expect((await call("session.me", "query", bearer(one.token))).status).toBe(401);
    expect((await call("token.listAll", "query", bearer(two.bearer))).status).toBe(403);
  });

  it("is counted: too many uses and too many misses are 429 with how long to wait", async () => {
    const { id, token } = await addToken(control, admin.id);
    expect((await call("session.me", "query", bearer(token))).status).toBe(200);
    await control.db.rateLimit.update({ where: { key: `token:${id}` }, data: { count: 5_000 } });
    const limited = await call("session.me", "query", bearer(token));
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(limited.json.error.json.data.helm.code).toBe("RATE_LIMITED");
    const wrong = bearer(`lifeboat_${"y".repeat(43)}`);
    const statuses = new Set<number>();
    for (let i = 0; i < 65; i += 1) statuses.add((await call("session.me", "query", wrong)).status);
    expect([...statuses]).toEqual([401, 429]);
  });
});
