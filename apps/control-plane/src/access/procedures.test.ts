import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appRouter } from "../router";
import { type Caller, everyCaller } from "../testing/callers";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { callHttp } from "../testing/people";
import { SCOPES, SESSION_ONLY } from "./scopes";

type Procedure = { _def: { type: "query" | "mutation" | "subscription" } };
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);
const RANK = { public: 0, viewer: 1, operator: 2, admin: 3 };

let control: TestControlPlane;
let callers: Caller[];

beforeAll(async () => {
  // What is tried here is who may, thousands of times from one address.
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  callers = await everyCaller(control);
});
afterAll(() => control.stop());

/** What the caller must be told: let in (whatever the verb then says of the input), or one of the two refusals. */
function expected(path: string, caller: Caller): "in" | "UNAUTHENTICATED" | "FORBIDDEN" {
  const scope = SCOPES[path] ?? "admin";
  // Who shows a personal token is somebody's program, and is told that it opens nothing any more.
  if (path === "session.current" && /^Bearer lifeboat_/.test(caller.headers.authorization ?? ""))
    return caller.role === null ? "UNAUTHENTICATED" : "in";
  if (scope === "public") return "in";
  if (caller.role === null) return "UNAUTHENTICATED";
  if (caller.by === "token" && SESSION_ONLY.has(path)) return "FORBIDDEN";
  return RANK[caller.role] >= RANK[scope] ? "in" : "FORBIDDEN";
}

describe("every procedure, over HTTP, as everyone", () => {
  it("has callers of every kind", () => {
    expect(callers.filter((caller) => caller.role === "operator").map((caller) => caller.by)).toEqual([
      "cookie",
      "session",
      "token",
    ]);
    expect(callers.length).toBeGreaterThan(20);
  });

  it.each(procedures.map(([path, procedure]) => [path, procedure._def.type] as const))(
    "%s",
    async (path, type) => {
      if (type === "subscription") throw new Error("subscriptions go over sockets here");
      const wanted: Record<string, string> = {};
      const got: Record<string, string> = {};
      for (const caller of callers) wanted[caller.name] = expected(path, caller);
      await Promise.all(
        callers.map(async ({ name, headers }) => {
          const answer = await callHttp(control, path, { type, input: { nothing: true }, headers });
          const code = answer.json?.error?.json?.data?.helm?.code as string | undefined;
          got[name] = code === "UNAUTHENTICATED" || code === "FORBIDDEN" ? code : "in";
          const status = { UNAUTHENTICATED: 401, FORBIDDEN: 403 }[code ?? ""];
          if (status) expect([name, answer.status]).toEqual([name, status]);
          // Nobody sees a fault of ours, whatever is sent.
          expect([name, answer.status >= 500]).toEqual([name, false]);
        }),
      );
      expect(got).toEqual(wanted);
    },
  );
});

describe("a mutation", () => {
  it.each(procedures.filter(([, p]) => p._def.type === "mutation").map(([path]) => path))(
    "%s is not to be had by GET, and not by another site's page",
    async (path) => {
      const admin = callers.find((caller) => caller.name === "admin by cookie")?.headers ?? {};
      const get = await callHttp(control, path, { type: "query", input: { nothing: true }, headers: admin });
      expect(get.status).toBe(405);
      const others: Record<string, string>[] = [
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "none" },
      ];
      for (const foreign of others) {
        const answer = await callHttp(control, path, {
          type: "mutation",
          input: { nothing: true },
          headers: { ...admin, ...foreign },
        });
        expect([foreign, answer.status, answer.json.error.code]).toEqual([foreign, 403, "FORBIDDEN"]);
      }
      const { origin: _, ...silent } = admin as Record<string, string>;
      const answer = await callHttp(control, path, { type: "mutation", input: {}, headers: silent });
      expect(answer.status).toBe(403);
    },
  );
});
