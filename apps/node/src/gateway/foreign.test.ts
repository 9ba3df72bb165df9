import { describe, expect, it } from "vitest";
import { chat, GatewayFixture } from "../testing/gateway-fixture";
import { otherKey, reversePair, testKey } from "../testing/test-gateway";
import { GATEWAY_ROUTES } from "./routes";

const on = new GatewayFixture();

const completion = (extra: object = {}) => ({ prompt: "one two three", ...extra });
/** A body for every route that takes one; a new route without an entry fails the first test. */
const BODY: Record<string, (extra?: object) => object> = {
  "POST /v1/chat/completions": chat,
  "POST /v1/completions": completion,
  "POST /v1/helm/escalate": chat,
  "POST /v1/helm/return": (extra?: object) => chat({ helm: { transfer: "force" }, ...extra }),
};
const generating = Object.keys(BODY);

/** Whatever else is a secret somewhere in this product, or was one. */
const STRANGERS: Record<string, string | null> = {
  nobody: null,
  "an unknown key": "Bearer hlm_abcdefgh_9999999999999999999999999999999999999999",
  "a tenant's key without its end": `Bearer ${testKey.slice(0, -1)}`,
  "a tenant's key's prefix": `Bearer ${testKey.slice(0, 12)}`,
  "a tenant's key in the wrong scheme": `Basic ${testKey}`,
  "two tenants' keys at once": `Bearer ${testKey}, Bearer ${otherKey}`,
  "a personal token": `Bearer lifeboat_${"a".repeat(43)}`,
  "a person's session": `Bearer ${"s".repeat(32)}.${"t".repeat(43)}%3D`,
  "a host's credential": `Bearer ${"c".repeat(43)}`,
  "a join token": `Bearer join_${"j".repeat(32)}`,
};

async function call(what: string, { key, body, headers = {} }: Call) {
  const [method = "", path = ""] = what.split(" ");
  const response = await fetch(on.gateway.origin + path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: key }),
      ...headers,
    },
    ...(method === "POST" ? { body: JSON.stringify(body ?? BODY[what]?.() ?? {}) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
  };
}

interface Call {
  key: string | null;
  body?: object;
  headers?: Record<string, string>;
}

const mine = `Bearer ${testKey}`;
const theirs = `Bearer ${otherKey}`;
const legs = () => on.engine.legs.map((leg) => leg.body as Record<string, unknown>);

describe("the gateway's routes", () => {
  it("each have a body here, and a caller that they are for", () => {
    const posts = GATEWAY_ROUTES.filter((route) => route.what.startsWith("POST ")).map((route) => route.what);
    expect(posts.sort()).toEqual([...generating].sort());
    expect(posts.every((what) => GATEWAY_ROUTES.find((route) => route.what === what)?.for === "tenant")).toBe(
      true,
    );
  });

  it.each(GATEWAY_ROUTES.map((route) => [route.what, route.for] as const))(
    "%s, for %s",
    async (what, meant) => {
      on.gateway.resources.metricsAccess.token = "an-operators-token";
      for (const [name, key] of Object.entries(STRANGERS)) {
        const { status, text } = await call(what, { key });
        expect([name, status]).toEqual([name, meant === "anyone" ? 200 : 401]);
        // Nothing of who calls here, nor of what they would be let in with.
        for (const secret of ["t1", "t2", "demo", "other", testKey, otherKey])
          expect(text).not.toContain(`"${secret}"`);
      }
      for (const key of [mine, theirs]) {
        const { status } = await call(what, { key });
        expect(status).toBe(meant === "operator" ? 401 : 200);
      }
      const operator = await call(what, { key: "Bearer an-operators-token" });
      expect(operator.status).toBe(meant === "tenant" ? 401 : 200);
      expect(await call(what.replace(/^\w+/, "DELETE"), { key: mine })).toMatchObject({ status: 404 });
    },
  );

  it("ask no engine for a stranger", async () => {
    for (const { what, for: meant } of GATEWAY_ROUTES) {
      if (meant !== "tenant") continue;
      for (const key of Object.values(STRANGERS)) await call(what, { key });
    }
    expect(on.engine.calls).toHaveLength(0);
  });
});

describe.each(generating)("another tenant on %s", (what) => {
  const session = { "x-helm-session": "the-first-tenant's" };
  const up = what === "POST /v1/helm/return" ? "POST /v1/helm/escalate" : what;

  /** A conversation of this key's tenant on the target, from where the route under test is asked. */
  async function begin(key: string): Promise<void> {
    on.gateway.dials.reverse = reversePair();
    if (up !== what) await call(up, { key, headers: session });
    on.engine.calls.length = 0;
  }

  it("finds nothing of a session that it names", async () => {
    on.unsure();
    await call(up, { key: mine, headers: session });
    const held = await call("POST /v1/chat/completions", { key: mine, headers: session });
    expect(held.body.helm).toMatchObject({ decision: "direct", reason: "SESSION_HELD" });
    const stranger = await call("POST /v1/chat/completions", { key: theirs, headers: session });
    expect(stranger.body.helm.reason).not.toBe("SESSION_HELD");
  });

  it("shares no block of a cache, native or mapped, with the same words in the same session", async () => {
    on.unsure();
    const saltsOf = async (key: string) => {
      await begin(key);
      await call(what, { key, headers: session });
      return legs().map((body) => body.cache_salt);
    };
    const [first, second] = [await saltsOf(mine), await saltsOf(theirs)];
    expect(first.length).toBeGreaterThan(0);
    for (const salt of [...first, ...second]) expect(salt).toMatch(/^[0-9a-f]{64}$/);
    expect(first.filter((salt) => second.includes(salt))).toEqual([]);
  });

  it("cannot use a handle, a mark or a salt that was made for the first", async () => {
    on.unsure();
    await begin(mine);
    await call(what, { key: mine, headers: session });
    const transfer = legs().find(
      (body) => (body.kv_transfer_params as { mapper_sha256?: string })?.mapper_sha256,
    );
    const stolen = transfer?.kv_transfer_params as { handle: string; mac: string };
    expect(stolen.handle).toMatch(/^[0-9a-f]{32}$/);
    on.engine.calls.length = 0;
    const body = BODY[what];
    for (const extra of [
      { kv_transfer_params: stolen },
      { kv_transfer_params: { ...stolen, do_stage: true, ttl_ms: 1 } },
      { cache_salt: transfer?.cache_salt },
      { vllm_xargs: { kv_transfer_params: stolen } },
      { model: "target", kv_transfer_params: stolen },
      { model: "target", cache_salt: transfer?.cache_salt },
    ]) {
      const answer = await call(what, { key: theirs, body: body?.(extra), headers: session });
      expect([extra, answer.status]).toEqual([extra, 400]);
      expect(Object.keys(extra)).toContain(answer.body.error.param);
    }
    expect(on.engine.calls).toHaveLength(0);
    // The second tenant's own transfer of the same words has a handle and a mark of its own.
    await begin(theirs);
    await call(what, { key: theirs, headers: session });
    const own = legs().find((leg) => (leg.kv_transfer_params as { mapper_sha256?: string })?.mapper_sha256);
    const made = own?.kv_transfer_params as { handle: string; mac: string };
    expect(made.handle).not.toBe(stolen.handle);
    expect(made.mac).not.toBe(stolen.mac);
  });
});
