import { get } from "node:http";
import { describe, expect, it } from "vitest";
import { chat, events, GatewayFixture } from "../testing/gateway-fixture";
import { words } from "../testing/scripted-engine";
import { otherKey, testKey } from "../testing/test-gateway";

const on = new GatewayFixture();

describe("who may ask", () => {
  it("refuses a missing, unknown or malformed key with 401 and asks no engine", async () => {
    for (const authorization of ["", "Bearer nope", `Bearer ${testKey}x`, `Basic ${testKey}`]) {
      const answer = await on.ask(chat(), undefined, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.body.error.code).toBe("invalid_api_key");
    }
    expect(on.engine.calls).toHaveLength(0);
  });

  it("keeps what belongs to the gateway to itself", async () => {
    for (const field of ["kv_transfer_params", "cache_salt", "vllm_xargs", "priority", "request_id"]) {
      for (const value of [{}, null, 0, "x"]) {
        for (const model of [undefined, "pilot"]) {
          const answer = await on.ask(chat({ model, [field]: value }));
          expect(answer.status).toBe(400);
          expect(answer.body.error.param).toBe(field);
        }
        expect((await on.ask({ prompt: "one", [field]: value }, "/v1/completions")).status).toBe(400);
        expect((await on.ask(chat({ [field]: value }), "/v1/helm/escalate")).status).toBe(400);
      }
    }
    expect(on.engine.calls).toHaveLength(0);
  });

  it("answers what it cannot read with a typed error and an id", async () => {
    const broken = await on.ask("{");
    expect([broken.status, broken.body.error.code]).toEqual([400, "invalid_json"]);
    expect(broken.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect((await on.ask({ messages: "x".repeat(5000) })).status).toBe(413);
    expect((await on.ask(chat({ n: 0 }))).body.error.param).toBe("n");
    expect((await on.ask(chat({ stream: "yes" }))).body.error.param).toBe("stream");
    expect((await on.ask({}, "/v1/nothing")).status).toBe(404);
    expect((await on.ask(chat(), undefined, { "x-helm-session": "no spaces please" })).status).toBe(400);
  });

  it("answers an endless body and an address that is none, too", async () => {
    const response = await fetch(`${on.gateway.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}` },
      body: new Blob(["x".repeat(5000)]).stream(),
      duplex: "half",
    } as RequestInit);
    expect([response.status, ((await response.json()) as { error: object }).error]).toEqual([
      413,
      expect.objectContaining({ code: "body_too_large" }),
    ]);
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(on.gateway.origin);
      get({ hostname, port, path: "//" }, (message) => resolve(message.resume().statusCode)).on(
        "error",
        reject,
      );
    });
    expect(status).toBe(404);
  });

  it("forwards the engine's own refusal of a body word for word", async () => {
    const answer = await on.ask({ messages: [{ role: "user", content: "refuse me" }] });
    expect([answer.status, answer.body.error.message]).toEqual([400, "no such role"]);
  });

  it("forces a transfer in development mode only", async () => {
    await on.restart({ development: false });
    const answer = await on.ask(chat({ helm: { transfer: "force" } }));
    expect([answer.status, answer.body.error.param]).toEqual([400, "helm.transfer"]);
    expect(answer.headers.get("x-helm-mode")).toBeNull();
  });
});

describe("an explicit model", () => {
  it("passes through untouched, whatever Helm would say", async () => {
    on.gateway.dials.helmRefusal = "HELM_OFF";
    on.unsure();
    const answer = await on.ask(chat({ model: "pilot", temperature: 0.3 }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-helm-served-by")).toBe("pilot");
    expect(answer.headers.get("x-helm-decision")).toBe("explicit");
    expect(answer.headers.get("x-helm-mode")).toBe("development");
    expect(answer.body.helm).toBeUndefined();
    expect(on.engine.legs).toHaveLength(1);
    expect(on.engine.legs[0]?.body).toMatchObject({ model: "pilot", temperature: 0.3, max_tokens: 32 });
  });

  it("is not counted by the engine where it fits however it is counted", async () => {
    for (const [body, path] of [
      [chat({ model: "pilot" }), "/v1/chat/completions"],
      [{ model: "pilot", prompt: "one two" }, "/v1/completions"],
    ] as const) {
      on.engine.calls.length = 0;
      expect((await on.ask(body, path)).status).toBe(200);
      expect(on.engine.calls.map((call) => call.path)).toEqual([path]);
    }
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    expect(gate?.available).toBe(gate?.capacity);
  });

  it("is counted where its bytes say too little: a large body, pictures, a default that might not fit", async () => {
    const counted = async (body: object) => {
      on.engine.calls.length = 0;
      const answer = await on.ask(body);
      return [answer.status, on.engine.calls.map((call) => call.path)];
    };
    const both = [200, ["/tokenize", "/v1/chat/completions"]];
    on.engine.budgetBytes = 64 * 64;
    await on.restart({});
    expect(await counted(chat({ model: "pilot" }))).toEqual(both);
    on.engine.budgetBytes = 1 << 20;
    await on.restart({});
    const picture = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    expect(await counted({ model: "pilot", messages: [{ role: "user", content: [picture] }] })).toEqual(both);
  });

  it("streams as the engine streams", async () => {
    const answer = await on.ask(chat({ model: "target", stream: true }));
    const seen = events(answer.body);
    expect(seen.at(-1)).toBe("[DONE]");
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
  });

  it("says in the stream that it broke", async () => {
    on.engine.script = () => ({ tokens: words("one two three four"), dieAfter: 2 });
    const answer = await on.ask(chat({ model: "target", stream: true }));
    const seen = events(answer.body);
    expect(seen.at(-1)).toMatchObject({ error: { code: "engine_error" } });
    expect(seen).not.toContain("[DONE]");
  });

  it("is 404 where nobody serves it", async () => {
    const answer = await on.ask(chat({ model: "gpt-9" }));
    expect([answer.status, answer.body.error.code]).toEqual([404, "model_not_found"]);
  });
});

describe("sessions and agents", () => {
  it("stays on the target once a session has escalated", async () => {
    on.unsure();
    const session = { "x-helm-session": "s-1" };
    expect((await on.ask(chat(), undefined, session)).body.helm.decision).toBe("escalated");
    const next = await on.ask(chat(), undefined, session);
    expect(next.body.helm).toMatchObject({ decision: "direct", reason: "SESSION_HELD", transfer: "none" });
    expect((await on.ask(chat(), undefined, { "x-helm-session": "s-2" })).body.helm.decision).toBe(
      "escalated",
    );
    const stranger = await on.ask(chat(), undefined, { ...session, authorization: `Bearer ${otherKey}` });
    expect(stranger.body.helm.decision).toBe("escalated");
  });

  it("escalates at an agent's word without asking the pilot", async () => {
    on.unsure();
    const answer = await on.ask(chat(), "/v1/helm/escalate");
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "AGENT",
      transfer: "transferred",
      judge: null,
    });
    expect(on.engine.legs.map((leg) => leg.body.max_tokens)).toEqual([1, 32]);
    expect((await on.ask(chat({ model: "target" }), "/v1/helm/escalate")).status).toBe(200);
    expect((await on.ask(chat({ model: "pilot" }), "/v1/helm/escalate")).status).toBe(409);
    expect((await on.ask(chat({ model: "gpt-9" }), "/v1/helm/escalate")).status).toBe(404);
  });

  it("answers an agent natively with the reason where Helm is off for it", async () => {
    on.unsure();
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, enabled: false };
    const answer = await on.ask(chat(), "/v1/helm/escalate");
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "TENANT_OFF",
      transfer: "fallback",
    });
  });
});

describe("admission", () => {
  it("refuses with numbers before anything has started", async () => {
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    await gate?.admit({ tenant: "x", bytes: gate.capacity, deadlineMs: 0 });
    const answer = await on.ask(chat());
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({
      type: "admission_error",
      code: "kv_memory_short",
      helm: { available_bytes: 0, never_fits: false, retry_after_ms: expect.any(Number) },
    });
    expect(answer.body.error.helm.shortfall_bytes).toBe(answer.body.error.helm.needed_bytes);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(on.engine.legs).toHaveLength(0);
  });

  it("keeps the place of a request that comes back with its ticket, and of nobody else's", async () => {
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    const full = await gate?.admit({ tenant: "x", bytes: gate.capacity, deadlineMs: 0 });
    const { ticket } = (await on.ask(chat())).body.error.helm;
    expect(ticket).toMatch(/^[\w-]{22}$/);
    if (full?.outcome !== "admitted") throw new Error("the gate was empty");
    full.reservation.release();
    // Room is free, but not the whole of it: a part is kept for who was promised it.
    const capacity = gate?.capacity ?? 0;
    const all = await gate?.admit({ tenant: "x", bytes: capacity, deadlineMs: 0, keepsPlace: false });
    expect(all?.outcome).toBe("refused");
    const others = { authorization: `Bearer ${otherKey}`, "x-helm-ticket": ticket };
    expect((await on.ask(chat(), undefined, others)).status).toBe(200);
    expect(gate?.ticketsOut).toBe(1);
    expect((await on.ask(chat(), undefined, { "x-helm-ticket": ticket })).status).toBe(200);
    expect(gate?.ticketsOut).toBe(0);
  });

  it("counts everybody who came to the door by what became of it", async () => {
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    await on.ask(chat({ model: "pilot" }));
    await on.ask(chat({ model: "pilot", max_tokens: 100_000 }));
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, max_concurrent: 0 };
    await on.ask(chat({ model: "pilot" }));
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, max_concurrent: null };
    await gate?.admit({ tenant: "x", bytes: gate.available, deadlineMs: 0 });
    await on.ask(chat({ model: "pilot" }));
    on.gateway.dials.engineGone = true;
    await on.ask(chat({ model: "pilot" }));
    const text = await (await fetch(`${on.gateway.origin}/metrics`)).text();
    for (const outcome of ["admitted", "never_fits", "tenant_quota", "kv_memory_short", "no_capacity"])
      expect(text).toContain(`helm_admission_total{outcome="${outcome}"} 1`);
  });

  it("says that something can never fit", async () => {
    const answer = await on.ask(chat({ max_tokens: 100_000 }));
    expect([answer.status, answer.body.error.helm.never_fits]).toEqual([413, true]);
  });

  it("counts the bound that the engine goes by", async () => {
    const body = { model: "pilot", prompt: "one two", max_completion_tokens: 1, max_tokens: 100_000 };
    expect((await on.ask(body, "/v1/completions")).status).toBe(413);
  });

  it("reserves for several prompts what each of them takes, not their mean", async () => {
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    const reserved: number[] = [];
    const real = gate?.admit.bind(gate);
    if (gate && real)
      gate.admit = (ask) => {
        reserved.push(ask.bytes);
        return real(ask);
      };
    // Blocks of 16 tokens, 64 bytes a token: with one answer token prompts of 1, 16 and 17 take 1, 1 and 2 blocks.
    const prompt = [1, 16, 17].map((length) => Array.from({ length }, () => 7));
    await on.ask({ model: "pilot", prompt, max_tokens: 1 }, "/v1/completions");
    await on.ask({ model: "pilot", prompt: prompt.slice(0, 2), max_tokens: 1, n: 2 }, "/v1/completions");
    expect(reserved).toEqual([4 * 1024, (2 + 1 + 0) * 1024]);
  });

  it("is 503 while no engine is on the serving path", async () => {
    on.gateway.dials.engineGone = true;
    expect((await on.ask(chat())).body.error.code).toBe("no_capacity");
    expect((await fetch(`${on.gateway.origin}/health`)).status).toBe(503);
  });
});

describe("what can be seen", () => {
  it("lists models and routes", async () => {
    const response = await fetch(`${on.gateway.origin}/v1/models`, {
      headers: { authorization: `Bearer ${testKey}` },
    });
    const list = (await response.json()) as { data: { id: string }[] };
    expect(list.data.map((model) => model.id)).toEqual(["pilot", "target", "helm-auto"]);
  });

  it("shows its metrics to an operator, and without a token on this machine alone", async () => {
    const { metricsAccess } = on.gateway.resources;
    const read = async (headers: Record<string, string> = {}) =>
      (await fetch(`${on.gateway.origin}/metrics`, { headers })).status;
    expect(await read()).toBe(200);
    for (const header of ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
      expect(await read({ [header]: "127.0.0.1" })).toBe(401);
    metricsAccess.local = false;
    expect(await read()).toBe(401);
    metricsAccess.token = "an-operator's-token";
    for (const local of [true, false]) {
      metricsAccess.local = local;
      expect(await read()).toBe(401);
      expect(await read({ authorization: `Bearer ${testKey}` })).toBe(401);
      expect(await read({ authorization: `Bearer ${metricsAccess.token}x` })).toBe(401);
      expect(await read({ authorization: `Bearer ${metricsAccess.token}` })).toBe(200);
    }
  });

  it("counts requests, transfers and fallbacks, and reports them once", async () => {
    on.unsure();
    await on.ask(chat());
    await on.ask(chat({ model: "target" }));
    on.gateway.dials.readiness.min_tokens = null;
    await on.ask(chat());
    const text = await (await fetch(`${on.gateway.origin}/metrics`)).text();
    expect(text).toContain('helm_transfer_total{result="transferred",pair="pair-1"} 1');
    expect(text).toContain('helm_transfer_fallback_total{reason="BLOCK_TOO_SMALL"} 1');
    expect(text).toContain('helm_requests_total{tenant="t1",route="explicit",served_by="target"} 1');
    expect(text).toContain("helm_prefill_avoided_tokens_total 90");
    const report = on.gateway.resources.stats.report();
    expect(report?.rows).toHaveLength(3);
    if (report) on.gateway.resources.stats.sent(report);
    expect(on.gateway.resources.stats.report()).toBeNull();
  });
});

describe("a node that drains", () => {
  it("answers new requests with 503 no_capacity and when to come again, and lets a running one end", async () => {
    on.engine.script = () => ({ tokens: words("one two three four"), pause: 40 });
    const running = on.ask(chat({ model: "pilot", stream: true }));
    await expect.poll(() => on.gateway.serving.report().running, { timeout: 15_000 }).toBe(1);
    on.gateway.serving.obey({ revision: 1, drain: true, canary: 0 });
    expect(on.gateway.serving.state).toBe("DRAINING");
    for (const model of ["pilot", undefined]) {
      const refused = await on.ask(chat({ model }));
      expect([refused.status, refused.body.error.code]).toEqual([503, "no_capacity"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    const health = await fetch(`${on.gateway.origin}/health`);
    expect([health.status, await health.json()]).toEqual([
      503,
      expect.objectContaining({ status: "draining", serving: "DRAINING" }),
    ]);
    const ended = await running;
    expect([ended.status, ended.body.endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
    await expect.poll(() => on.gateway.serving.state, { timeout: 15_000 }).toBe("DRAINED");
    on.gateway.serving.obey({ revision: 2, drain: false, canary: 0 });
    await expect.poll(() => on.gateway.serving.state, { timeout: 15_000 }).toBe("SERVING");
    expect((await on.ask(chat({ model: "pilot" }))).status).toBe(200);
  });

  it("still says what it serves, and whose key is unknown", async () => {
    on.gateway.serving.obey({ revision: 1, drain: true, canary: 0 });
    const models = await fetch(`${on.gateway.origin}/v1/models`, {
      headers: { authorization: `Bearer ${testKey}` },
    });
    expect(models.status).toBe(200);
    expect((await on.ask(chat(), undefined, { authorization: "Bearer nope" })).status).toBe(401);
  });
});
