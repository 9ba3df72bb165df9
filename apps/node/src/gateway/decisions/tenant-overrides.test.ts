import { describe, expect, it } from "vitest";
import { chat, events, GatewayFixture } from "../../testing/gateway-fixture";
import { words } from "../../testing/scripted-engine";
import { otherKey, testKey as TEST_KEY } from "../../testing/test-gateway";

const on = new GatewayFixture();
const own = (over: object) => {
  on.gateway.dials.tenant = { ...on.gateway.dials.tenant, ...over };
};
const other = { authorization: `Bearer ${otherKey}` };
const decision = async (headers?: Record<string, string>) =>
  (await on.ask(chat(), undefined, headers)).body.helm.decision;

describe("a tenant's own word wins over the route's, and over nobody else's", () => {
  it("thresholds: stricter ones escalate what the route keeps, milder ones keep what it escalates", async () => {
    on.engine.script = (body) =>
      body.model === "pilot" ? { tokens: words("so so", -0.5) } : { tokens: words("from the target") };
    expect(await decision()).toBe("kept");
    own({ mean_logprob: -0.2 });
    expect(await decision()).toBe("escalated");
    expect(await decision(other)).toBe("kept");
    own({ mean_logprob: null, min_logprob: -0.4 });
    expect((await on.ask(chat())).body.helm).toMatchObject({
      decision: "escalated",
      judge: { escalate: true },
    });
    on.gateway.dials.route.judge = { version: "logprob-1", mean_logprob: -0.1, min_logprob: -0.1 };
    own({ mean_logprob: -1, min_logprob: -1 });
    expect(await decision()).toBe("kept");
    expect(await decision(other)).toBe("escalated");
  });

  it("streaming mode and window: what the judge may see before bytes leave", async () => {
    // Sure in the route's window of two tokens, lost after it.
    on.engine.script = (body) =>
      body.model === "pilot"
        ? { tokens: [...words("one two", -0.1), ...words("three four five", -9)] }
        : { tokens: words("from the target") };
    expect(await decision()).toBe("kept");
    own({ window: 4 });
    expect(await decision()).toBe("escalated");
    expect(await decision(other)).toBe("kept");
    own({ window: null, streaming: "buffer" });
    expect(await decision()).toBe("escalated");
    own({ streaming: "stream" });
    expect((await on.ask(chat())).body.helm).toMatchObject({ decision: "kept", reason: "STREAM_MODE" });
    const streamed = await on.ask(chat({ stream: true }));
    expect(events(streamed.body).at(-1)).toBe("[DONE]");
  });

  it("transfer off: escalates, and the target reads the prompt itself", async () => {
    on.unsure();
    own({ transfer_off: true });
    expect((await on.ask(chat())).body.helm).toMatchObject({
      decision: "escalated",
      reason: "TENANT_OFF",
      transfer: "fallback",
    });
    expect((await on.ask(chat(), undefined, other)).body.helm.transfer).toBe("transferred");
  });

  it("quota: one request beyond it is refused with the numbers, others and other tenants are served, and a place comes free", async () => {
    own({ max_concurrent: 2 });
    on.engine.script = () => ({ tokens: words("x"), hang: true });
    const stop = new AbortController();
    const held = [1, 2].map(() =>
      fetch(`${on.gateway.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(chat({ model: "pilot" })),
        signal: stop.signal,
      }).catch(() => null),
    );
    await expect.poll(() => on.engine.legs.length, { timeout: 10_000 }).toBe(2);
    on.engine.script = () => ({ tokens: words("all is well") });
    const refused = await on.ask(chat());
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({
      type: "admission_error",
      code: "tenant_quota",
      helm: { limit: 2, running: 2, retry_after_ms: expect.any(Number) },
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await on.ask(chat(), undefined, other)).status).toBe(200);
    stop.abort();
    await Promise.all(held);
    await expect.poll(async () => (await on.ask(chat())).status, { timeout: 10_000 }).toBe(200);
    // An error gives the place back, too.
    for (let n = 0; n < 5; n += 1) expect((await on.ask("{")).status).toBe(400);
    expect((await on.ask(chat())).status).toBe(200);
  });
});

describe("hold_turns", () => {
  it("brings a session down to the pilot after so many answers of the target, and never without it", async () => {
    on.unsure();
    const session = { "x-helm-session": "s-1" };
    const reasons = async (times: number) => {
      const seen: string[] = [];
      for (let n = 0; n < times; n += 1) {
        const { decision, reason } = (await on.ask(chat(), undefined, session)).body.helm;
        seen.push(decision === "escalated" ? "escalated" : reason);
      }
      return seen;
    };
    on.gateway.dials.route.hold_turns = 3;
    expect(await reasons(7)).toEqual([
      "escalated",
      "SESSION_HELD",
      "SESSION_HELD",
      "escalated",
      "SESSION_HELD",
      "SESSION_HELD",
      "escalated",
    ]);
    on.gateway.dials.route.hold_turns = null;
    expect(await reasons(5)).toEqual(Array.from({ length: 5 }, () => "SESSION_HELD"));
  });
});
