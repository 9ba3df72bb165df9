import { describe, expect, it } from "vitest";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";
import { words } from "../../testing/scripted-engine";
import { otherKey, reversePair } from "../../testing/test-gateway";

const on = new GatewayFixture();
const RETURN = "/v1/helm/return";
const ESCALATE = "/v1/helm/escalate";
const session = { "x-helm-session": "s-1" };

/** A chat of so many turns, each long enough to fill blocks; the scripted engine's tokens are its words' lengths. */
function conversation(turns: number, extra: object = {}, about = "alpha") {
  const messages = Array.from({ length: turns }, (_, turn) => [
    ...(turn > 0 ? [{ role: "assistant", content: `answer ${turn}` }] : []),
    {
      role: "user",
      content: Array.from({ length: 20 }, (_, at) => `${about}${"x".repeat((at * turn) % 7)}`).join(" "),
    },
  ]).flat();
  return chat({ messages, ...extra });
}

const legs = () => on.engine.legs.map((leg) => leg.body as Record<string, unknown>);
const kv = (body: Record<string, unknown> | undefined) =>
  (body?.kv_transfer_params ?? {}) as Record<string, unknown>;
const helm = async (body: unknown, path?: string, headers?: Record<string, string>) => {
  on.engine.calls.length = 0;
  return (await on.ask(body, path, headers)).body.helm;
};

describe("a conversation without a name", () => {
  it("is the one whose last prompt it goes on with, and stays where it is answered", async () => {
    on.unsure();
    expect(await helm(conversation(1))).toMatchObject({ decision: "escalated" });
    expect(await helm(conversation(2))).toMatchObject({ decision: "direct", reason: "SESSION_HELD" });
    expect(await helm(conversation(3))).toMatchObject({ decision: "direct", reason: "SESSION_HELD" });
  });

  it("is another one where the same is asked anew, where only its beginning is the same, and of another tenant", async () => {
    on.unsure();
    await helm(conversation(1));
    expect(await helm(conversation(1))).toMatchObject({ decision: "escalated" });
    expect(await helm(conversation(2, {}, "b"))).toMatchObject({ decision: "escalated" });
    const stranger = { authorization: `Bearer ${otherKey}` };
    expect(await helm(conversation(2), undefined, stranger)).toMatchObject({ decision: "escalated" });
  });

  it("goes on in its tool loop with the model that began it", async () => {
    on.gateway.dials.route.hold_turns = 1;
    await helm(conversation(1));
    on.unsure();
    const loop = (turns: number) => {
      const body = conversation(turns) as { messages: object[] };
      const call = { role: "assistant", content: "call" };
      return { ...body, messages: [...body.messages, call, { role: "tool", content: "42" }] };
    };
    expect(await helm(loop(1))).toMatchObject({ decision: "kept", reason: "TOOL_LOOP" });
    expect(await helm(conversation(2), ESCALATE)).toMatchObject({ reason: "AGENT" });
    // Its one turn on the target is over, but not its loop.
    expect(await helm(loop(2))).toMatchObject({ decision: "direct", reason: "SESSION_HELD" });
  });
});

describe("the way up, again and again", () => {
  it("goes on from the mapped line while the session is held, under the one salt", async () => {
    on.unsure();
    await helm(conversation(1), undefined, session);
    const [, , first] = legs();
    await helm(conversation(2), undefined, session);
    const [held] = legs();
    expect(held).toMatchObject({ model: "target", cache_salt: first?.cache_salt });
    expect(kv(held)).toEqual({ native_salt: kv(first).native_salt });
    expect(kv(held).native_salt).not.toBe(held?.cache_salt);
  });

  it("reads nothing mapped once the mapper is another, or the tenant's transfers are off", async () => {
    on.unsure();
    await helm(conversation(1), undefined, session);
    const native = legs()[0]?.cache_salt;
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, transfer_off: true };
    await helm(conversation(2), undefined, session);
    expect(legs()).toMatchObject([{ model: "target", cache_salt: native }]);
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, transfer_off: false };
    on.gateway.dials.pair.mapper_sha256 = "c".repeat(64);
    await helm(conversation(3), undefined, session);
    expect(legs()).toMatchObject([{ model: "target", cache_salt: native }]);
  });

  it("stages and maps only what the target does not hold yet", async () => {
    on.unsure();
    on.gateway.dials.route.hold_turns = 1;
    await helm(conversation(1), undefined, session);
    expect(legs().map((body) => kv(body).from_token)).toEqual([undefined, undefined, undefined]);
    await helm(conversation(2), undefined, session);
    // 20 tokens are known of the target's line: one whole block of 16.
    expect(legs().map((body) => kv(body).from_token)).toEqual([undefined, 16, undefined]);
  });

  it("is not worth it where the target holds nearly all of it: it goes on from its own line", async () => {
    on.unsure();
    on.gateway.dials.route.hold_turns = 1;
    on.gateway.dials.readiness.min_tokens = 20;
    expect(await helm(conversation(1), undefined, session)).toMatchObject({ transfer: "transferred" });
    const line = legs().at(-1)?.cache_salt;
    on.gateway.dials.readiness.min_tokens = 40;
    // 42 tokens, of which 16 are known: 26 are too few.
    expect(await helm(conversation(2), undefined, session)).toMatchObject({
      decision: "escalated",
      reason: "LOW_MEAN",
      transfer: "none",
    });
    expect(legs().at(-1)).toMatchObject({ model: "target", cache_salt: line });
    // Where what it holds is its own, it is a prefill like any other.
    const fresh = { "x-helm-session": "s-2" };
    on.gateway.dials.readiness.min_tokens = null;
    await helm(conversation(1), undefined, fresh);
    on.gateway.dials.readiness.min_tokens = 27;
    expect(await helm(conversation(2), undefined, fresh)).toMatchObject({
      reason: "BLOCK_TOO_SMALL",
      transfer: "fallback",
    });
    on.gateway.dials.readiness.min_tokens = 26;
    on.gateway.dials.route.hold_turns = 1;
    expect(await helm(conversation(1), ESCALATE, { "x-helm-session": "s-3" })).toMatchObject({
      reason: "BLOCK_TOO_SMALL",
    });
  });

  it("counts what the separate salt costs where an engine does not find what it computed itself", async () => {
    on.unsure();
    on.gateway.dials.route.hold_turns = 1;
    on.gateway.dials.readiness.min_tokens = null;
    await helm(conversation(1), undefined, session);
    on.gateway.dials.readiness.min_tokens = 1;
    await helm(conversation(2), undefined, session);
    const counted = await on.gateway.resources.metrics.lostPrefixHits.get();
    expect(counted.values).toMatchObject([{ labels: { pair: "pair-1" }, value: 16 }]);
  });

  it("ends at the route's most switches: from then on the target prefills", async () => {
    on.unsure();
    on.gateway.dials.route.hold_turns = 1;
    on.gateway.dials.route.max_switches = 2;
    const told = [];
    for (const turns of [1, 2, 3, 4]) told.push(await helm(conversation(turns), undefined, session));
    expect(told.map(({ transfer }) => transfer)).toEqual([
      "transferred",
      "transferred",
      "fallback",
      "fallback",
    ]);
    expect(told.slice(2).map(({ reason }) => reason)).toEqual(["DRIFT_LIMIT", "DRIFT_LIMIT"]);
    expect(kv(legs().at(-1))).toEqual({});
    expect((await helm(conversation(1), undefined, { "x-helm-session": "s-9" })).transfer).toBe(
      "transferred",
    );
  });
});

describe("POST /v1/helm/return", () => {
  async function onTheTarget(turns = 2): Promise<void> {
    on.unsure();
    for (let turn = 1; turn <= turns; turn++) await helm(conversation(turn), ESCALATE, session);
  }

  it("brings the session down with the target's cache, through the reverse pair, and it stays down", async () => {
    on.gateway.dials.reverse = reversePair();
    await onTheTarget();
    const lineUp = legs().at(-1)?.cache_salt;
    const answer = await helm(conversation(3), RETURN, session);
    expect(answer).toMatchObject({
      served_by: "pilot",
      decision: "kept",
      reason: "RETURNED",
      transfer: "transferred",
      tokens_moved: 90,
      judge: null,
    });
    const [stage, down] = legs();
    expect(stage).toMatchObject({ model: "target", max_tokens: 1, cache_salt: lineUp });
    expect(down).toMatchObject({ model: "pilot" });
    expect(kv(down)).toMatchObject({ mapper_sha256: "b".repeat(64), source_model: "target" });
    expect(down?.cache_salt).not.toBe(lineUp);
    on.engine.script = () => ({ tokens: words("all is well") });
    expect(await helm(conversation(4), undefined, session)).toMatchObject({
      decision: "kept",
      reason: "CONFIDENT",
    });
    expect(legs()).toMatchObject([{ model: "pilot", cache_salt: down?.cache_salt }]);
  });

  it.each([
    ["NOT_CALIBRATED", () => {}],
    ["NOT_CALIBRATED", () => Object.assign(reverse().pair, { refusal: "NOT_CALIBRATED" })],
    ["NOT_PLACED", () => Object.assign(reverse().readiness, { state: "REFUSED", code: "NOT_PLACED" })],
    ["MAPPER_NOT_RESIDENT", () => Object.assign(reverse().readiness, { state: "FETCHING" })],
    ["BLOCK_TOO_SMALL", () => Object.assign(reverse().readiness, { min_tokens: 4_000 })],
  ])("is answered by the pilot's own reading, and says why: %s", async (reason, turn) => {
    await onTheTarget();
    turn();
    expect(await helm(conversation(3), RETURN, session)).toMatchObject({
      served_by: "pilot",
      decision: "kept",
      reason,
      transfer: "fallback",
    });
    expect(legs()).toMatchObject([{ model: "pilot" }]);
    expect(kv(legs()[0])).toEqual({});
  });

  function reverse() {
    on.gateway.dials.reverse ??= reversePair();
    return on.gateway.dials.reverse;
  }

  it("comes down also by a pair that one would not escalate by: the pilot need not be better than the target", async () => {
    reverse().pair.refusal = "NOT_ABOVE_PILOT";
    await onTheTarget();
    expect(await helm(conversation(3), RETURN, session)).toMatchObject({
      reason: "RETURNED",
      transfer: "transferred",
    });
  });

  it("falls back where the engine does, and counts it for the reverse pair", async () => {
    on.gateway.dials.reverse = reversePair();
    await onTheTarget();
    on.unsure({ stage: { report: { result: "fallback", reason: "NO_MEMORY" } } });
    expect(await helm(conversation(3), RETURN, session)).toMatchObject({
      served_by: "pilot",
      reason: "NO_MEMORY",
      transfer: "fallback",
    });
    const { values } = await on.gateway.resources.metrics.transfers.get();
    expect(values).toContainEqual({ labels: { pair: "pair-2", result: "fallback" }, value: 1 });
  });

  it("is a plain answer of the pilot where there is nothing to come down from, streamed if asked", async () => {
    expect(await helm(conversation(1), RETURN)).toMatchObject({
      decision: "kept",
      reason: "RETURNED",
      transfer: "none",
    });
    const streamed = await on.ask(conversation(1, { stream: true }), RETURN);
    expect(streamed.headers.get("x-helm-decision")).toBe("kept");
    expect(streamed.body).toContain("[DONE]");
  });

  it("takes the route or the pilot by name; another model is 409, an unknown one 404", async () => {
    const asked = async (model: string) => (await on.ask(conversation(1, { model }), RETURN)).status;
    expect([await asked("helm-auto"), await asked("pilot")]).toEqual([200, 200]);
    expect([await asked("target"), await asked("gpt-9")]).toEqual([409, 404]);
  });

  it("is answered by the target where Helm is off", async () => {
    await onTheTarget();
    on.gateway.dials.helmRefusal = "HELM_OFF";
    expect(await helm(conversation(3), RETURN, session)).toMatchObject({
      served_by: "target",
      reason: "HELM_OFF",
    });
  });
});

describe("hold_turns", () => {
  it("brings the session down with the cache, for the judge to look at", async () => {
    on.gateway.dials.reverse = reversePair();
    on.gateway.dials.route.hold_turns = 2;
    on.unsure();
    await helm(conversation(1), undefined, session);
    await helm(conversation(2), undefined, session);
    const script = on.engine.script;
    on.engine.script = (body, path) => {
      const said = script(body, path);
      return body.model === "pilot" && !kv(body).do_stage ? { ...said, tokens: words("sure now") } : said;
    };
    expect(await helm(conversation(3), undefined, session)).toMatchObject({
      served_by: "pilot",
      decision: "kept",
      reason: "CONFIDENT",
      transfer: "transferred",
      judge: { escalate: false },
    });
    expect(legs().map(({ model }) => model)).toEqual(["target", "pilot"]);
    expect(await helm(conversation(4), undefined, session)).toMatchObject({
      decision: "kept",
      transfer: "none",
    });
  });

  it("counts the way down also where the judge sends the request up again", async () => {
    on.gateway.dials.reverse = reversePair();
    on.gateway.dials.route.hold_turns = 2;
    on.unsure();
    const script = on.engine.script;
    // The pilot goes on from what was carried down, and is still unsure.
    on.engine.script = (body, path) =>
      body.model === "pilot" && kv(body).mapper_sha256
        ? { tokens: words("not so sure", -3), report: { result: "transferred", tokens_moved: 7 } }
        : script(body, path);
    for (const turns of [1, 2]) await helm(conversation(turns), undefined, session);
    expect(await helm(conversation(3), undefined, session)).toMatchObject({ decision: "escalated" });
    const { values } = await on.gateway.resources.metrics.transfers.get();
    expect(values).toContainEqual({ labels: { pair: "pair-2", result: "transferred" }, value: 1 });
  });
});
