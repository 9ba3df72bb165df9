import { findUnstorable, type NodeStats, RequestTrace } from "@helm/contracts";
import { expect, it, vi } from "vitest";
import { chat, GatewayFixture } from "../testing/gateway-fixture";
import { testKey } from "../testing/test-gateway";

const on = new GatewayFixture();

/** What the gateway would send now, oldest first; every trace must fit the contract. */
function traces(): RequestTrace[] {
  const { outbox } = on.gateway.resources.traces;
  const found: RequestTrace[] = [];
  for (let batch = outbox.report(); batch; batch = outbox.report()) {
    found.push(...batch.traces.map((trace) => RequestTrace.parse(JSON.parse(JSON.stringify(trace)))));
    outbox.sent(batch);
  }
  return found;
}

const rows = (): NodeStats["rows"] => on.gateway.resources.stats.report()?.rows ?? [];

it("tells a kept answer: who answered, what the judge saw, one leg", async () => {
  const answer = await on.ask(chat());
  const [trace] = traces();
  expect(trace).toMatchObject({
    id: answer.headers.get("x-helm-trace-id"),
    tenant_id: "t1",
    route: "helm-auto",
    decision: "kept",
    served_by: "pilot",
    transfer: "none",
    status: 200,
    mode: "window",
    tokens: { prompt: 3, moved: null },
    judge: { version: "logprob-1", escalate: false, threshold: -1 },
    text: null,
  });
  expect(trace?.judge?.score).toBeCloseTo(-0.1);
  expect(
    trace?.legs.map(({ role, answered, completion_tokens }) => [role, answered, completion_tokens]),
  ).toEqual([["pilot", true, 3]]);
  expect(trace?.total_ms).toBeGreaterThanOrEqual(trace?.legs[0]?.ended_ms ?? Number.POSITIVE_INFINITY);
});

it("tells a transfer: three legs in their order, and its steps", async () => {
  on.unsure();
  await on.ask(chat());
  const [trace] = traces();
  expect(trace).toMatchObject({
    decision: "escalated",
    reason: "LOW_MEAN",
    served_by: "target",
    transfer: "transferred",
    tokens: { prompt: 3, moved: 90, tail: 5 },
    steps: { map_ms: 1 },
  });
  expect(trace?.legs.map(({ role, answered, ended_by }) => [role, answered, ended_by])).toEqual([
    ["pilot", false, "not_needed"],
    ["stage", false, null],
    ["target", true, null],
  ]);
  // The pilot was cut short, so that its engine brought no usage: what was heard of it is what is told.
  expect(trace?.legs[0]).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
  const starts = trace?.legs.map(({ started_ms }) => started_ms) ?? [];
  expect([...starts].sort((a, b) => a - b)).toEqual(starts);
  expect(on.gateway.resources.stats.report()?.lengths).toMatchObject([
    { pair_id: "pair-1", transfer: "transferred", from_tokens: 2, requests: 1 },
  ]);
});

it("tells a fallback with its code, and which leg it was that answered", async () => {
  on.unsure({ transfer: { refuse: { status: 500, body: {} } } });
  await on.ask(chat());
  const [trace] = traces();
  expect(trace).toMatchObject({ kept: "fallback", transfer: "fallback", reason: "ENGINE_ERROR" });
  expect(trace?.legs.filter(({ answered }) => answered).map(({ role }) => role)).toEqual(["target"]);
});

it("tells a named model's request", async () => {
  await on.ask(chat({ model: "target" }));
  const [trace] = traces();
  expect(trace).toMatchObject({ decision: "explicit", route: null, judge: null, served_by: "target" });
  expect(trace?.legs).toMatchObject([{ role: "named", model: "target", answered: true, ended_by: null }]);
});

it("tells and counts who was turned away, with the shortfall, and the caller's own mistakes apart from them", async () => {
  on.engine.budgetBytes = 64 * 16;
  await on.restart({});
  const refused = await on.ask(chat({ model: "target", max_tokens: 4_000 }));
  expect(refused.status).toBe(413);
  const [trace] = traces();
  expect(trace).toMatchObject({ kept: "refusal", status: 413, error_code: "never_fits", decision: null });
  expect(trace?.shortfall?.shortfall_bytes).toBe(refused.body.error.helm.shortfall_bytes);
  await on.ask(chat({ n: 0 }));
  on.gateway.dials.engineGone = true;
  expect((await on.ask(chat())).status).toBe(503);
  on.engine.budgetBytes = 1 << 20;
  expect(traces().map(({ status, error_code }) => [status, error_code])).toEqual([
    [400, "invalid_value"],
    [503, "no_capacity"],
  ]);
  expect(rows().map(({ decision, reason, requests }) => [decision, reason, requests])).toEqual([
    ["refused", "never_fits", 1],
    ["client_error", "invalid_value", 1],
    ["refused", "no_capacity", 1],
  ]);
});

it("counts every request that it keeps a trace of, the engine's own refusals and callers who left too", async () => {
  await on.ask(chat({ model: "nobody" }));
  const refuse = { status: 400, body: { error: { message: "too long", code: "context_length" } } };
  on.engine.script = () => ({ tokens: [], refuse });
  expect((await on.ask(chat({ model: "target" }))).status).toBe(400);
  on.engine.script = () => ({ tokens: [], hang: true });
  const gone = AbortSignal.timeout(200);
  await expect(
    fetch(`${on.gateway.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}` },
      body: JSON.stringify(chat({ model: "target" })),
      signal: gone,
    }),
  ).rejects.toThrow();
  await vi.waitFor(() => expect(on.gateway.resources.traces.outbox.size).toBe(3));
  expect(traces().map(({ status, error_code, kept }) => [status, error_code, kept])).toEqual([
    [404, "model_not_found", "error"],
    [400, "engine_refused", "error"],
    [499, "client_gone", "error"],
  ]);
  expect(rows().map(({ decision, reason, requests }) => [decision, reason, requests])).toEqual([
    ["client_error", "model_not_found", 1],
    ["client_error", "engine_refused", 1],
    ["client_error", "client_gone", 1],
  ]);
});

it("keeps the text of a tenant that opted in", async () => {
  on.gateway.dials.tenant = {
    ...on.gateway.dials.tenant,
    trace_text_until: new Date(Date.now() + 60_000).toISOString(),
  };
  on.unsure();
  await on.ask(chat());
  expect(traces()[0]?.text).toEqual({ prompt: "user: one two three", answer: "from the target", cut: false });
});

it("writes down what a database can hold of a text, and none of a message costs the request", async () => {
  on.gateway.dials.tenant = {
    ...on.gateway.dials.tenant,
    trace_text_until: new Date(Date.now() + 60_000).toISOString(),
  };
  const messages = [
    { role: { toString: null }, content: "odd" },
    { role: "user", content: "one\u0000 two \ud83d three" },
  ];
  expect((await on.ask(chat({ messages, model: "pilot" }))).status).toBe(200);
  const [trace] = traces();
  expect(findUnstorable(trace)).toBeNull();
  expect(trace?.text?.prompt).toContain("user: one\ufffd two \ufffd three");
});
