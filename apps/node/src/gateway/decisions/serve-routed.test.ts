import { describe, expect, it } from "vitest";
import { chat, GatewayFixture, type Overrides } from "../../testing/gateway-fixture";
import { words } from "../../testing/scripted-engine";
import { otherKey } from "../../testing/test-gateway";

const on = new GatewayFixture();

describe("a routed request", () => {
  it("is kept where the pilot is sure, and shows only what was asked for", async () => {
    const answer = await on.ask(chat({ model: "helm-auto" }));
    expect(answer.headers.get("x-helm-decision")).toBe("kept");
    expect(answer.headers.get("x-helm-reason")).toBe("CONFIDENT");
    expect(answer.body.model).toBe("pilot");
    expect(answer.body.choices[0]).toMatchObject({ message: { content: "all is well" }, logprobs: null });
    expect(answer.body.usage.completion_tokens).toBe(3);
    expect(answer.body.helm).toMatchObject({
      decision: "kept",
      transfer: "none",
      judge: { escalate: false },
    });
    expect(on.engine.legs).toHaveLength(1);
    expect(on.engine.legs[0]?.body).toMatchObject({ logprobs: true, max_tokens: 32 });
  });

  it("keeps log-probabilities where the caller asked for them", async () => {
    const answer = await on.ask(chat({ logprobs: true }));
    expect(answer.body.choices[0].logprobs.content).toHaveLength(3);
  });

  it("escalates with the pilot's cache where the pilot is unsure", async () => {
    on.unsure();
    const answer = await on.ask(chat({ temperature: 0 }));
    expect(answer.body.model).toBe("target");
    expect(answer.body.choices[0].message.content).toBe("from the target");
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "LOW_MEAN",
      transfer: "transferred",
      tokens_moved: 90,
      tail_tokens: 5,
    });
    expect(answer.headers.get("x-helm-transfer")).toBe("transferred");
    const [pilot, stage, target] = on.engine.legs.map((leg) => leg.body);
    expect(on.engine.legs).toHaveLength(3);
    expect(stage).toMatchObject({
      model: "pilot",
      max_tokens: 1,
      stream: false,
      cache_salt: pilot?.cache_salt,
    });
    expect(stage?.kv_transfer_params).toMatchObject({ do_stage: true });
    const staged = stage?.kv_transfer_params as { handle: string; mac: string };
    expect(target).toMatchObject({ model: "target", temperature: 0, max_tokens: 32 });
    expect(target?.kv_transfer_params).toMatchObject({
      handle: staged.handle,
      mac: staged.mac,
      source_model: "pilot",
    });
    expect(target?.cache_salt).not.toBe(pilot?.cache_salt);
  });

  it("never reuses a handle, and gives no two tenants or conversations one salt", async () => {
    on.unsure();
    await on.ask(chat());
    await on.ask(chat());
    await on.ask(chat(), undefined, { authorization: `Bearer ${otherKey}` });
    const mapped = on.engine.legs.filter((leg) => leg.body.model === "target").map((leg) => leg.body);
    expect(new Set(mapped.map((body) => (body.kv_transfer_params as { handle: string }).handle)).size).toBe(
      3,
    );
    expect(new Set(mapped.map((body) => body.cache_salt)).size).toBe(3);
    const native = on.engine.legs
      .filter((leg) => leg.body.model === "pilot")
      .map((leg) => leg.body.cache_salt);
    expect(new Set(native).size).toBe(2);
  });

  it.each([
    ["HELM_OFF", () => (on.gateway.dials.helmRefusal = "HELM_OFF")],
    ["HW_REFUSED", () => (on.gateway.dials.helmRefusal = "HW_REFUSED")],
    ["TENANT_OFF", () => (on.gateway.dials.tenant = { ...on.gateway.dials.tenant, enabled: false })],
    ["NOT_CALIBRATED", () => (on.gateway.dials.pair.refusal = "NOT_CALIBRATED")],
    ["TRANSFER_INELIGIBLE", () => (on.gateway.dials.pair.refusal = "TRANSFER_INELIGIBLE")],
    ["NOT_ABOVE_PILOT", () => (on.gateway.dials.pair.refusal = "NOT_ABOVE_PILOT")],
    [
      "PAIR_MISMATCH",
      () => Object.assign(on.gateway.dials.readiness, { state: "REFUSED", code: "PAIR_MISMATCH" }),
    ],
    [
      "ARTIFACT_UNREADABLE",
      () => Object.assign(on.gateway.dials.readiness, { state: "REFUSED", code: "ARTIFACT_UNREADABLE" }),
    ],
  ])("goes to the target directly: %s", async (reason, turn) => {
    on.unsure();
    turn();
    const answer = await on.ask(chat());
    expect(answer.status).toBe(200);
    expect(answer.body.helm).toMatchObject({
      served_by: "target",
      decision: "direct",
      reason,
      transfer: "fallback",
    });
    expect(on.engine.legs.map((leg) => leg.body.model)).toEqual(["target"]);
  });

  it.each([
    ["MAPPER_NOT_RESIDENT", () => Object.assign(on.gateway.dials.readiness, { state: "FETCHING" })],
    ["BLOCK_TOO_SMALL", () => Object.assign(on.gateway.dials.readiness, { min_tokens: 4 })],
    ["BLOCK_TOO_SMALL", () => Object.assign(on.gateway.dials.readiness, { min_tokens: null })],
    ["TENANT_OFF", () => (on.gateway.dials.tenant = { ...on.gateway.dials.tenant, transfer_off: true })],
  ])("escalates natively without trying: %s", async (reason, turn) => {
    on.unsure();
    turn();
    const answer = await on.ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason,
      transfer: "fallback",
      served_by: "target",
    });
    expect(on.engine.legs.map((leg) => leg.body.kv_transfer_params)).toEqual([undefined, undefined]);
    const native = on.engine.legs.map((leg) => leg.body.cache_salt);
    expect(native[0]).toBe(native[1]);
  });

  it("moves below the minimum when forced, and not at all when told not to", async () => {
    on.unsure();
    on.gateway.dials.readiness.min_tokens = null;
    const forced = await on.ask(chat({ helm: { transfer: "force" } }));
    expect(forced.body.helm.transfer).toBe("transferred");
    const off = await on.ask(chat({ helm: { transfer: "off" } }));
    expect(off.body.helm).toMatchObject({ decision: "escalated", reason: "LOW_MEAN", transfer: "none" });
  });

  it.each<[string, Overrides]>([
    ["NO_MEMORY", { stage: { report: { result: "fallback", reason: "NO_MEMORY" } } }],
    ["NO_MEMORY", { stage: { report: { result: "refused", reason: "NO_MEMORY" } } }],
    ["ENGINE_ERROR", { stage: { report: { result: "gibberish" } } }],
    ["ENGINE_ERROR", { stage: { refuse: { status: 500, body: {} } } }],
    ["ENGINE_ERROR", { transfer: { refuse: { status: 500, body: {} } } }],
    ["ENGINE_ERROR", { transfer: { refuse: { status: 422, body: { error: { code: "x" } } } } }],
    ["ENGINE_ERROR", { transfer: { dieAfter: 0 } }],
    ["ENGINE_ERROR", { transfer: { dieAfter: 2 } }],
    ["STAGING_GONE", { transfer: { report: { result: "fallback", reason: "STAGING_GONE" } } }],
    [
      "TEMPLATE_MISMATCH",
      { transfer: { report: { result: "fallback", reason: "TEMPLATE_MISMATCH" }, reportLate: true } },
    ],
  ])("answers all the same when the transfer ends in %s (%j)", async (reason, over) => {
    on.unsure(over);
    const answer = await on.ask(chat());
    expect(answer.status).toBe(200);
    expect(answer.body.choices[0].message.content).toBe("from the target");
    expect(answer.body.helm).toMatchObject({ decision: "escalated", transfer: "fallback", reason });
    expect(answer.headers.get("x-helm-reason")).toBe(reason);
  });

  it.each<[string, Overrides]>([
    ["staging", { stage: { hang: true } }],
    ["the target's first token", { transfer: { hang: true } }],
  ])("does not wait for a transfer for ever: %s", async (_, over) => {
    on.unsure(over);
    on.gateway.resources.limits.transferMs = 400;
    const answer = await on.ask(chat());
    expect(answer.body.choices[0].message.content).toBe("from the target");
    expect(answer.body.helm).toMatchObject({ transfer: "fallback", reason: "TIMEOUT" });
  });

  it("falls to the target when the pilot fails", async () => {
    on.engine.script = (body) =>
      body.model === "pilot"
        ? { tokens: [], refuse: { status: 500, body: {} } }
        : { tokens: words("from the target") };
    const answer = await on.ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "direct",
      reason: "ENGINE_ERROR",
      served_by: "target",
    });
    on.gateway.resources.limits.firstTokenMs = 2_000;
    on.engine.script = (body) => ({ tokens: words("x"), hang: body.model === "pilot" });
    expect((await on.ask(chat())).body.helm).toMatchObject({ decision: "direct", reason: "TIMEOUT" });
  });

  it.each([
    ["a whole answer", { streaming: "window" as const }, {}],
    ["a stream before its first token", { streaming: "stream" as const, dieAfter: 0 }, { stream: true }],
  ])("falls to the target when the pilot breaks before anything has left: %s", async (_, over, extra) => {
    on.gateway.dials.route.streaming = over.streaming;
    on.engine.script = (body) =>
      body.model === "pilot"
        ? { tokens: words("one two three four five"), dieAfter: 3, ...over }
        : { tokens: words("from the target") };
    const answer = await on.ask(chat(extra));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-helm-served-by")).toBe("target");
    expect(answer.headers.get("x-helm-decision")).toBe("direct");
    expect(answer.headers.get("x-helm-reason")).toBe("ENGINE_ERROR");
    expect(JSON.stringify(answer.body)).not.toContain("one");
  });

  it.each([
    [
      "its engine finds fault with the body",
      (on: GatewayFixture) => {
        on.engine.script = (body) =>
          body.model === "pilot"
            ? {
                tokens: [],
                refuse: { status: 400, body: { error: { message: "the pilot takes no tools" } } },
              }
            : { tokens: words("from the target") };
      },
      {},
    ],
    [
      "its template knows no such role",
      (on: GatewayFixture) => {
        on.engine.refusesToCount = "pilot";
      },
      {},
    ],
    [
      "its whole budget is too small",
      (on: GatewayFixture) => {
        const memory = on.gateway.resources.engine()?.memory.models.pilot;
        if (memory) memory.kv_bytes_per_token = 1 << 20;
      },
      {},
    ],
    [
      "in a stream",
      (on: GatewayFixture) => {
        on.engine.refusesToCount = "pilot";
      },
      { stream: true },
    ],
  ])("is served by the target where only the pilot refuses: %s", async (_, refuse, extra) => {
    refuse(on);
    const answer = await on.ask(chat(extra));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-helm-served-by")).toBe("target");
    expect(answer.headers.get("x-helm-decision")).toBe("direct");
    expect(answer.headers.get("x-helm-reason")).toBe("PILOT_REFUSED");
    expect(answer.headers.get("x-helm-transfer")).toBe("none");
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    expect(gate?.available).toBe(gate?.capacity);
  });

  it("is refused in the target's words where the target refuses too, and where there is no target", async () => {
    on.engine.script = (body) => ({
      tokens: [],
      refuse: { status: 422, body: { error: { message: `not for ${body.model}`, code: "unusable" } } },
    });
    const answer = await on.ask(chat());
    expect([answer.status, answer.body.error.message]).toEqual([422, "not for target"]);
    on.gateway.dials.pair.target = "elsewhere";
    const alone = await on.ask(chat());
    expect([alone.status, alone.body.error.message]).toEqual([422, "not for pilot"]);
  });

  it("is still the caller's own fault where the model was named", async () => {
    on.engine.refusesToCount = "pilot";
    expect((await on.ask(chat({ model: "pilot" }))).status).toBe(400);
  });

  it("asks for no longer answer than the prompt leaves room for, where the caller set no bound", async () => {
    const model = on.gateway.resources.engine()?.models.get("target");
    if (model) model.max_model_len = 20;
    await on.ask(chat());
    await on.ask(chat({ model: "target" }));
    await on.ask(chat({ max_tokens: 30 }));
    expect(on.engine.legs.map((leg) => leg.body.max_tokens)).toEqual([17, 17, 30]);
  });

  it("asks the target natively where there is no evidence", async () => {
    on.engine.script = (body) => ({ tokens: words("mute", body.model === "pilot" ? null : -1) });
    const answer = await on.ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "NO_EVIDENCE",
      transfer: "fallback",
    });
  });

  it("keeps the pilot's answer where the target has no room", async () => {
    on.unsure();
    const target = on.gateway.resources.engine()?.gates.get("target");
    const all = await target?.admit({ tenant: "x", bytes: target.capacity, deadlineMs: 0 });
    expect(all?.outcome).toBe("admitted");
    const answer = await on.ask(chat());
    expect(answer.body.helm).toMatchObject({ served_by: "pilot", decision: "kept", reason: "TARGET_BUSY" });
    expect(answer.body.choices[0].message.content).toBe("not so sure");
    expect(answer.body.helm.judge.escalate).toBe(true);
  });

  it("is decided by the least sure of several answers", async () => {
    on.engine.script = (body) => ({ tokens: words(body.model === "pilot" ? "so so" : "sure", -0.2) });
    expect((await on.ask(chat({ n: 2 }))).body.choices).toHaveLength(2);
  });

  it("takes completions too, one prompt each", async () => {
    on.unsure();
    const answer = await on.ask({ prompt: "one two three" }, "/v1/completions");
    expect(answer.body.choices[0].text).toBe("from the target");
    expect(answer.body.helm.transfer).toBe("transferred");
    expect(on.engine.legs[0]?.body.logprobs).toBe(0);
    expect((await on.ask({ prompt: ["a", "b"] }, "/v1/completions")).body.error.param).toBe("prompt");
  });
});
