import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Script, ScriptedEngine, words } from "../testing/scripted-engine";
import { otherKey, startTestGateway, type TestGateway, testKey } from "../testing/test-gateway";

let engine: ScriptedEngine;
let gateway: TestGateway;

const limits = {
  transferMs: 150,
  firstTokenMs: 400,
  idleMs: 400,
  reserveMs: 20,
  admissionMs: 60,
  maxBodyBytes: 4096,
};

beforeAll(async () => {
  engine = await ScriptedEngine.start();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  engine.calls.length = 0;
  engine.script = () => ({ tokens: words("all is well") });
  gateway = await startTestGateway({ origin: engine.origin }, { limits });
  engine.calls.length = 0;
});
afterEach(() => gateway.stop());

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
  body: any;
}

async function ask(
  body: unknown,
  path = "/v1/chat/completions",
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(gateway.origin + path, {
    method: "POST",
    headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body: json };
}

const chat = (extra: object = {}) => ({ messages: [{ role: "user", content: "one two three" }], ...extra });

/** The pilot is unsure; staging and transfer go well unless a test says otherwise. */
function unsure(
  over: { stage?: Partial<Script>; transfer?: Partial<Script>; native?: Partial<Script> } = {},
) {
  engine.script = (body) => {
    const kv = body.kv_transfer_params as { do_stage?: boolean } | undefined;
    if (kv?.do_stage) return { tokens: words("x"), report: { result: "staged" }, ...over.stage };
    if (kv) {
      return {
        tokens: words("from the target"),
        report: { result: "transferred", reason: null, tokens_moved: 90, tail_tokens: 5, map_ms: 1 },
        ...over.transfer,
      };
    }
    if (body.model === "pilot") return { tokens: words("not so sure", -3) };
    return { tokens: words("from the target"), ...over.native };
  };
}

/** Data lines of a stream, parsed; the end mark stays a string. */
function events(text: string): (Record<string, unknown> | "[DONE]")[] {
  return text
    .split("\n\n")
    .filter((part) => part.startsWith("data: "))
    .map((part) => (part === "data: [DONE]" ? "[DONE]" : JSON.parse(part.slice(6))));
}

describe("who may ask", () => {
  it("refuses a missing, unknown or malformed key with 401 and asks no engine", async () => {
    for (const authorization of ["", "Bearer nope", `Bearer ${testKey}x`, `Basic ${testKey}`]) {
      const answer = await ask(chat(), undefined, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.body.error.code).toBe("invalid_api_key");
    }
    expect(engine.calls).toHaveLength(0);
  });

  it("keeps what belongs to the gateway to itself", async () => {
    for (const field of ["kv_transfer_params", "cache_salt"]) {
      const answer = await ask(chat({ [field]: {} }));
      expect(answer.status).toBe(400);
      expect(answer.body.error.param).toBe(field);
    }
    expect(engine.calls).toHaveLength(0);
  });

  it("answers what it cannot read with a typed error and an id", async () => {
    const broken = await ask("{");
    expect([broken.status, broken.body.error.code]).toEqual([400, "invalid_json"]);
    expect(broken.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect((await ask({ messages: "x".repeat(5000) })).status).toBe(413);
    expect((await ask(chat({ n: 0 }))).body.error.param).toBe("n");
    expect((await ask(chat({ stream: "yes" }))).body.error.param).toBe("stream");
    expect((await ask({}, "/v1/nothing")).status).toBe(404);
    expect((await ask(chat(), undefined, { "x-helm-session": "no spaces please" })).status).toBe(400);
  });

  it("forwards the engine's own refusal of a body word for word", async () => {
    const answer = await ask({ messages: [{ role: "user", content: "refuse me" }] });
    expect([answer.status, answer.body.error.message]).toEqual([400, "no such role"]);
  });

  it("forces a transfer in development mode only", async () => {
    await gateway.stop();
    gateway = await startTestGateway({ origin: engine.origin }, { development: false });
    const answer = await ask(chat({ helm: { transfer: "force" } }));
    expect([answer.status, answer.body.error.param]).toEqual([400, "helm.transfer"]);
    expect(answer.headers.get("x-helm-mode")).toBeNull();
  });
});

describe("an explicit model", () => {
  it("passes through untouched, whatever Helm would say", async () => {
    gateway.dials.helmRefusal = "HELM_OFF";
    unsure();
    const answer = await ask(chat({ model: "pilot", temperature: 0.3 }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-helm-served-by")).toBe("pilot");
    expect(answer.headers.get("x-helm-decision")).toBe("explicit");
    expect(answer.headers.get("x-helm-mode")).toBe("development");
    expect(answer.body.helm).toBeUndefined();
    expect(engine.legs).toHaveLength(1);
    expect(engine.legs[0]?.body).toMatchObject({ model: "pilot", temperature: 0.3, max_tokens: 32 });
  });

  it("streams as the engine streams", async () => {
    const answer = await ask(chat({ model: "target", stream: true }));
    const seen = events(answer.body);
    expect(seen.at(-1)).toBe("[DONE]");
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
  });

  it("says in the stream that it broke", async () => {
    engine.script = () => ({ tokens: words("one two three four"), dieAfter: 2 });
    const answer = await ask(chat({ model: "target", stream: true }));
    const seen = events(answer.body);
    expect(seen.at(-1)).toMatchObject({ error: { code: "engine_error" } });
    expect(seen).not.toContain("[DONE]");
  });

  it("is 404 where nobody serves it", async () => {
    const answer = await ask(chat({ model: "gpt-9" }));
    expect([answer.status, answer.body.error.code]).toEqual([404, "model_not_found"]);
  });
});

describe("a routed request", () => {
  it("is kept where the pilot is sure, and shows only what was asked for", async () => {
    const answer = await ask(chat({ model: "helm-auto" }));
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
    expect(engine.legs).toHaveLength(1);
    expect(engine.legs[0]?.body).toMatchObject({ logprobs: true, max_tokens: 32 });
  });

  it("keeps log-probabilities where the caller asked for them", async () => {
    const answer = await ask(chat({ logprobs: true }));
    expect(answer.body.choices[0].logprobs.content).toHaveLength(3);
  });

  it("escalates with the pilot's cache where the pilot is unsure", async () => {
    unsure();
    const answer = await ask(chat({ temperature: 0 }));
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
    const [pilot, stage, target] = engine.legs.map((leg) => leg.body);
    expect(engine.legs).toHaveLength(3);
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
    unsure();
    await ask(chat());
    await ask(chat());
    await ask(chat(), undefined, { authorization: `Bearer ${otherKey}` });
    const mapped = engine.legs.filter((leg) => leg.body.model === "target").map((leg) => leg.body);
    expect(new Set(mapped.map((body) => (body.kv_transfer_params as { handle: string }).handle)).size).toBe(
      3,
    );
    expect(new Set(mapped.map((body) => body.cache_salt)).size).toBe(3);
    const native = engine.legs.filter((leg) => leg.body.model === "pilot").map((leg) => leg.body.cache_salt);
    expect(new Set(native).size).toBe(2);
  });

  it.each([
    ["HELM_OFF", () => (gateway.dials.helmRefusal = "HELM_OFF")],
    ["HW_REFUSED", () => (gateway.dials.helmRefusal = "HW_REFUSED")],
    ["TENANT_OFF", () => (gateway.dials.tenant = { ...gateway.dials.tenant, enabled: false })],
    ["NOT_CALIBRATED", () => (gateway.dials.pair.refusal = "NOT_CALIBRATED")],
    ["TRANSFER_INELIGIBLE", () => (gateway.dials.pair.refusal = "TRANSFER_INELIGIBLE")],
    ["NOT_ABOVE_PILOT", () => (gateway.dials.pair.refusal = "NOT_ABOVE_PILOT")],
    [
      "PAIR_MISMATCH",
      () => Object.assign(gateway.dials.readiness, { state: "REFUSED", code: "PAIR_MISMATCH" }),
    ],
    [
      "ARTIFACT_UNREADABLE",
      () => Object.assign(gateway.dials.readiness, { state: "REFUSED", code: "ARTIFACT_UNREADABLE" }),
    ],
  ])("goes to the target directly: %s", async (reason, turn) => {
    unsure();
    turn();
    const answer = await ask(chat());
    expect(answer.status).toBe(200);
    expect(answer.body.helm).toMatchObject({
      served_by: "target",
      decision: "direct",
      reason,
      transfer: "fallback",
    });
    expect(engine.legs.map((leg) => leg.body.model)).toEqual(["target"]);
  });

  it.each([
    ["MAPPER_NOT_RESIDENT", () => Object.assign(gateway.dials.readiness, { state: "FETCHING" })],
    ["BLOCK_TOO_SMALL", () => Object.assign(gateway.dials.readiness, { min_tokens: 4 })],
    ["BLOCK_TOO_SMALL", () => Object.assign(gateway.dials.readiness, { min_tokens: null })],
    ["TENANT_OFF", () => (gateway.dials.tenant = { ...gateway.dials.tenant, transfer_off: true })],
  ])("escalates natively without trying: %s", async (reason, turn) => {
    unsure();
    turn();
    const answer = await ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason,
      transfer: "fallback",
      served_by: "target",
    });
    expect(engine.legs.map((leg) => leg.body.kv_transfer_params)).toEqual([undefined, undefined]);
    const native = engine.legs.map((leg) => leg.body.cache_salt);
    expect(native[0]).toBe(native[1]);
  });

  it("moves below the minimum when forced, and not at all when told not to", async () => {
    unsure();
    gateway.dials.readiness.min_tokens = null;
    const forced = await ask(chat({ helm: { transfer: "force" } }));
    expect(forced.body.helm.transfer).toBe("transferred");
    const off = await ask(chat({ helm: { transfer: "off" } }));
    expect(off.body.helm).toMatchObject({ decision: "escalated", reason: "LOW_MEAN", transfer: "none" });
  });

  it.each<[string, Parameters<typeof unsure>[0]]>([
    ["NO_MEMORY", { stage: { report: { result: "fallback", reason: "NO_MEMORY" } } }],
    ["NO_MEMORY", { stage: { report: { result: "refused", reason: "NO_MEMORY" } } }],
    ["ENGINE_ERROR", { stage: { report: { result: "gibberish" } } }],
    ["ENGINE_ERROR", { stage: { refuse: { status: 500, body: {} } } }],
    ["ENGINE_ERROR", { transfer: { refuse: { status: 500, body: {} } } }],
    ["ENGINE_ERROR", { transfer: { refuse: { status: 422, body: { error: { code: "x" } } } } }],
    ["TIMEOUT", { stage: { hang: true } }],
    ["TIMEOUT", { transfer: { hang: true } }],
    ["ENGINE_ERROR", { transfer: { dieAfter: 0 } }],
    ["ENGINE_ERROR", { transfer: { dieAfter: 2 } }],
    ["STAGING_GONE", { transfer: { report: { result: "fallback", reason: "STAGING_GONE" } } }],
    [
      "TEMPLATE_MISMATCH",
      { transfer: { report: { result: "fallback", reason: "TEMPLATE_MISMATCH" }, reportLate: true } },
    ],
  ])("answers all the same when the transfer ends in %s (%j)", async (reason, over) => {
    unsure(over);
    const answer = await ask(chat());
    expect(answer.status).toBe(200);
    expect(answer.body.choices[0].message.content).toBe("from the target");
    expect(answer.body.helm).toMatchObject({ decision: "escalated", transfer: "fallback", reason });
    expect(answer.headers.get("x-helm-reason")).toBe(reason);
  });

  it("falls to the target when the pilot fails", async () => {
    engine.script = (body) =>
      body.model === "pilot"
        ? { tokens: [], refuse: { status: 500, body: {} } }
        : { tokens: words("from the target") };
    const answer = await ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "direct",
      reason: "ENGINE_ERROR",
      served_by: "target",
    });
    engine.script = (body) => (body.model === "pilot" ? { tokens: [], hang: true } : { tokens: words("x") });
    expect((await ask(chat())).body.helm).toMatchObject({ decision: "direct", reason: "TIMEOUT" });
  });

  it("asks the target natively where there is no evidence", async () => {
    engine.script = (body) => ({ tokens: words("mute", body.model === "pilot" ? null : -1) });
    const answer = await ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "NO_EVIDENCE",
      transfer: "fallback",
    });
  });

  it("keeps the pilot's answer where the target has no room", async () => {
    unsure();
    const target = gateway.resources.engine()?.gates.get("target");
    const all = await target?.admit({ tenant: "x", bytes: target.capacity, deadlineMs: 0 });
    expect(all?.outcome).toBe("admitted");
    const answer = await ask(chat());
    expect(answer.body.helm).toMatchObject({ served_by: "pilot", decision: "kept", reason: "TARGET_BUSY" });
    expect(answer.body.choices[0].message.content).toBe("not so sure");
    expect(answer.body.helm.judge.escalate).toBe(true);
  });

  it("is decided by the least sure of several answers", async () => {
    engine.script = (body) => ({ tokens: words(body.model === "pilot" ? "so so" : "sure", -0.2) });
    expect((await ask(chat({ n: 2 }))).body.choices).toHaveLength(2);
  });

  it("takes completions too, one prompt each", async () => {
    unsure();
    const answer = await ask({ prompt: "one two three" }, "/v1/completions");
    expect(answer.body.choices[0].text).toBe("from the target");
    expect(answer.body.helm.transfer).toBe("transferred");
    expect(engine.legs[0]?.body.logprobs).toBe(0);
    expect((await ask({ prompt: ["a", "b"] }, "/v1/completions")).body.error.param).toBe("prompt");
  });
});

describe("streaming", () => {
  it("judges the window, then lets the pilot's answer go on", async () => {
    const answer = await ask(chat({ stream: true }));
    const seen = events(answer.body);
    const text = seen.map((part) => (part === "[DONE]" ? "" : contentOf(part))).join("");
    expect(text).toBe("all is well");
    expect(answer.headers.get("x-helm-decision")).toBe("kept");
    expect(seen.at(-1)).toBe("[DONE]");
    const last = seen.at(-2) as { choices: unknown[]; helm: object; usage?: unknown };
    expect(last.helm).toMatchObject({ decision: "kept" });
    expect(last.choices).toHaveLength(1);
    expect(last.usage).toBeUndefined();
  });

  it("commits to the target before a byte has left, with headers that already know", async () => {
    unsure();
    const answer = await ask(chat({ stream: true, stream_options: { include_usage: true } }));
    const seen = events(answer.body);
    expect(answer.headers.get("x-helm-transfer")).toBe("transferred");
    expect(seen.map((part) => (part === "[DONE]" ? "" : contentOf(part))).join("")).toBe("from the target");
    expect(seen.at(-2)).toMatchObject({
      choices: [],
      usage: { completion_tokens: 3 },
      helm: { transfer: "transferred" },
    });
    expect(JSON.stringify(seen)).not.toContain("kv_transfer_params");
  });

  it("says pending where the engine tells only at the end, and the truth in the last chunk", async () => {
    unsure({ transfer: { reportLate: true } });
    const answer = await ask(chat({ stream: true }));
    expect(answer.headers.get("x-helm-transfer")).toBe("pending");
    expect(events(answer.body).at(-2)).toMatchObject({ helm: { transfer: "transferred" } });
  });

  it("does not escalate because of what lies beyond the window", async () => {
    engine.script = () => ({ tokens: [...words("sure as ever "), ...words("until here", -9)] });
    expect((await ask(chat({ stream: true }))).headers.get("x-helm-decision")).toBe("kept");
    gateway.dials.route.streaming = "buffer";
    expect((await ask(chat({ stream: true }))).headers.get("x-helm-decision")).toBe("escalated");
  });

  it("never escalates a plain stream", async () => {
    unsure();
    gateway.dials.tenant = { ...gateway.dials.tenant, streaming: "stream" };
    const answer = await ask(chat({ stream: true }));
    expect(answer.headers.get("x-helm-reason")).toBe("STREAM_MODE");
    expect(answer.headers.get("x-helm-served-by")).toBe("pilot");
  });

  it("never switches after bytes have left: a transferred stream that breaks says so", async () => {
    unsure({ transfer: { tokens: words("a b c d"), dieAfter: 3 } });
    const answer = await ask(chat({ stream: true }));
    const seen = events(answer.body);
    expect(seen.at(-1)).toMatchObject({ error: { code: "engine_error" } });
    expect(engine.legs.filter((leg) => leg.body.model === "target")).toHaveLength(1);
  });

  it("ends the engine's work when the client goes away, and gives all room back", async () => {
    engine.script = () => ({ tokens: words("word ".repeat(200)), pause: 10 });
    for (const body of [chat({ stream: true }), chat({ stream: true, model: "target" }), chat()]) {
      const client = new AbortController();
      const started = fetch(`${gateway.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${testKey}` },
        body: JSON.stringify(body),
        signal: client.signal,
      }).then((response) => response.text());
      await new Promise((resolve) => setTimeout(resolve, 80));
      client.abort();
      await expect(started).rejects.toThrow();
      await expect.poll(() => engine.legs.at(-1)?.aborted).toBe(true);
    }
    const served = gateway.resources.engine();
    await expect
      .poll(() => [...(served?.gates.values() ?? [])].every((gate) => gate.available === gate.capacity))
      .toBe(true);
  });
});

describe("sessions and agents", () => {
  it("stays on the target once a session has escalated", async () => {
    unsure();
    const session = { "x-helm-session": "s-1" };
    expect((await ask(chat(), undefined, session)).body.helm.decision).toBe("escalated");
    const next = await ask(chat(), undefined, session);
    expect(next.body.helm).toMatchObject({ decision: "direct", reason: "SESSION_HELD", transfer: "none" });
    expect((await ask(chat(), undefined, { "x-helm-session": "s-2" })).body.helm.decision).toBe("escalated");
    const stranger = await ask(chat(), undefined, { ...session, authorization: `Bearer ${otherKey}` });
    expect(stranger.body.helm.decision).toBe("escalated");
  });

  it("escalates at an agent's word without asking the pilot", async () => {
    unsure();
    const answer = await ask(chat(), "/v1/helm/escalate");
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "AGENT",
      transfer: "transferred",
      judge: null,
    });
    expect(engine.legs.map((leg) => leg.body.max_tokens)).toEqual([1, 32]);
    expect((await ask(chat({ model: "target" }), "/v1/helm/escalate")).status).toBe(200);
    expect((await ask(chat({ model: "pilot" }), "/v1/helm/escalate")).status).toBe(409);
    expect((await ask(chat({ model: "gpt-9" }), "/v1/helm/escalate")).status).toBe(404);
  });

  it("answers an agent natively with the reason where Helm is off for it", async () => {
    unsure();
    gateway.dials.tenant = { ...gateway.dials.tenant, enabled: false };
    const answer = await ask(chat(), "/v1/helm/escalate");
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "TENANT_OFF",
      transfer: "fallback",
    });
  });
});

describe("admission", () => {
  it("refuses with numbers before anything has started", async () => {
    const gate = gateway.resources.engine()?.gates.get("pilot");
    await gate?.admit({ tenant: "x", bytes: gate.capacity, deadlineMs: 0 });
    const answer = await ask(chat());
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({
      type: "admission_error",
      code: "kv_memory_short",
      helm: { available_bytes: 0, never_fits: false, retry_after_ms: expect.any(Number) },
    });
    expect(answer.body.error.helm.shortfall_bytes).toBe(answer.body.error.helm.needed_bytes);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(engine.legs).toHaveLength(0);
  });

  it("says that something can never fit", async () => {
    const answer = await ask(chat({ max_tokens: 100_000 }));
    expect([answer.status, answer.body.error.helm.never_fits]).toEqual([413, true]);
  });

  it("is 503 while no engine is on the serving path", async () => {
    gateway.dials.engineGone = true;
    expect((await ask(chat())).body.error.code).toBe("no_capacity");
    expect((await fetch(`${gateway.origin}/health`)).status).toBe(503);
  });
});

describe("what can be seen", () => {
  it("lists models and routes", async () => {
    const response = await fetch(`${gateway.origin}/v1/models`, {
      headers: { authorization: `Bearer ${testKey}` },
    });
    const list = (await response.json()) as { data: { id: string }[] };
    expect(list.data.map((model) => model.id)).toEqual(["pilot", "target", "helm-auto"]);
  });

  it("counts requests, transfers and fallbacks, and reports them once", async () => {
    unsure();
    await ask(chat());
    await ask(chat({ model: "target" }));
    gateway.dials.readiness.min_tokens = null;
    await ask(chat());
    const text = await (await fetch(`${gateway.origin}/metrics`)).text();
    expect(text).toContain('helm_transfer_total{result="transferred",pair="pair-1"} 1');
    expect(text).toContain('helm_transfer_fallback_total{reason="BLOCK_TOO_SMALL"} 1');
    expect(text).toContain('helm_requests_total{tenant="t1",route="explicit",served_by="target"} 1');
    expect(text).toContain("helm_prefill_avoided_tokens_total 90");
    const report = gateway.resources.stats.report();
    expect(report?.rows).toHaveLength(3);
    if (report) gateway.resources.stats.sent(report);
    expect(gateway.resources.stats.report()).toBeNull();
  });
});

function contentOf(part: Record<string, unknown>): string {
  const choices = part.choices as { delta?: { content?: string } }[];
  return choices[0]?.delta?.content ?? "";
}
