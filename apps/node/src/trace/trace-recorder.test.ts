import type { TraceShare } from "@helm/contracts";
import { RequestTrace, TraceBatch } from "@helm/contracts";
import { expect, it } from "vitest";
import type { Tenant } from "../config/access";
import { readGeneration } from "../gateway/bodies/generation";
import type { TraceBuilder } from "./trace-builder";
import { TraceOutbox } from "./trace-outbox";
import { TraceRecorder } from "./trace-recorder";
import { TraceSampling } from "./trace-sampling";

const silent: Tenant = { id: "t", name: "t", enabled: true };
const id = (n: number) => n.toString(16).padStart(32, "0");
const outcome = {
  route: "helm-auto",
  pairId: "p",
  decision: "kept",
  reason: "CONFIDENT",
  servedBy: "pilot",
  transfer: "none",
  report: null,
  stageMs: null,
  firstTokenMs: 3,
} as const;

function recorderAt(rate: number, bounds?: { traces: number; bytes: number }) {
  return new TraceRecorder({
    rate: () => rate,
    generation: () => 7,
    development: true,
    outbox: new TraceOutbox(bounds),
  });
}

function request(recorder: TraceRecorder, n: number, tenant = silent): TraceBuilder {
  const trace = recorder.begin(id(n), tenant, "/v1/chat/completions");
  const body = { messages: [{ role: "user", content: "what is it?" }] };
  trace.understood(readGeneration("/v1/chat/completions", body, true), false);
  trace.answered(outcome);
  return trace;
}

it("sends everything out of the ordinary and a share of the rest", () => {
  const none = recorderAt(0);
  none.finish(request(none, 1));
  expect(none.outbox.report()).toBeNull();
  const fallback = request(none, 2);
  fallback.answered({ ...outcome, transfer: "fallback", reason: "TIMEOUT" });
  none.finish(fallback);
  const refused = none.begin(id(3), silent, "/v1/completions");
  refused.failed({ status: 429, code: "tenant_quota", shortfall: null });
  none.finish(refused);
  const traces = TraceBatch.parse(none.outbox.report()).traces;
  expect(traces.map(({ kept, status, reason }) => [kept, status, reason])).toEqual([
    ["fallback", 200, "TIMEOUT"],
    ["refusal", 429, null],
  ]);
  const all = recorderAt(1);
  all.finish(request(all, 1));
  expect(all.outbox.report()?.traces[0]).toMatchObject({ kept: "rate", propensity: 1, generation: 7 });
});

it("bounds what is out of the ordinary by the minute, and counts time anew in the next", () => {
  let now = 0;
  const sampling = new TraceSampling(
    () => 0,
    Math.random,
    () => now,
  );
  const facts = { transfer: "fallback", errorCode: null, share: false, asked: false };
  const kept = () => Array.from({ length: 1_000 }, () => sampling.decide(facts)).filter(Boolean).length;
  expect(kept()).toBe(600);
  expect(kept()).toBe(0);
  expect(sampling.decide({ ...facts, share: true })).toEqual({ kept: "share", propensity: 1 });
  now = 60_000;
  expect(kept()).toBe(600);
});

it("keeps no text but of a tenant that opted in, and only until its time", () => {
  const recorder = recorderAt(1);
  const soon = new Date(Date.now() + 60_000).toISOString();
  const past = new Date(Date.now() - 1).toISOString();
  const said = (content: string) => ({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "pilot",
    choices: [{ index: 0, delta: { content } }],
  });
  const tenants = [silent, { ...silent, trace_text_until: past }, { ...silent, trace_text_until: soon }];
  for (const [n, tenant] of tenants.entries()) {
    const trace = request(recorder, n, tenant);
    trace.heard(said("nothing "));
    trace.heard(said("much"));
    recorder.finish(trace);
  }
  const texts = recorder.outbox.report()?.traces.map(({ text }) => text);
  expect(texts).toEqual([null, null, { prompt: "user: what is it?", answer: "nothing much", cut: false }]);
});

it("waits for a random share before the record goes out", async () => {
  const recorder = recorderAt(0);
  let arrive: (share: TraceShare) => void = () => {};
  const trace = request(recorder, 1);
  trace.awaitShare(new Promise((resolve) => (arrive = resolve)));
  recorder.finish(trace);
  expect(recorder.outbox.report()).toBeNull();
  arrive({ kind: "kept_also_target", propensity: 0.01, first_token_agrees: true });
  await expect.poll(() => recorder.outbox.report()?.traces[0]?.share?.propensity).toBe(0.01);
});

it("gives the same batch again until it is taken, loses none within the bound, and counts the rest", () => {
  const recorder = recorderAt(1, { traces: 3, bytes: 1 << 20 });
  for (let n = 0; n < 5; n++) recorder.finish(request(recorder, n));
  const first = recorder.outbox.report();
  expect(first?.traces.map((trace) => RequestTrace.parse(trace).id)).toEqual([id(0), id(1), id(2)]);
  expect(recorder.outbox.report()).toBe(first);
  expect(recorder.outbox.takeLeftOut()).toBe(2);
  expect(recorder.outbox.takeLeftOut()).toBe(0);
  if (first) recorder.outbox.sent(first);
  expect(recorder.outbox.report()).toBeNull();
  recorder.finish(request(recorder, 9));
  expect(recorder.outbox.report()?.traces).toHaveLength(1);
});

it("keeps a message below its bytes", () => {
  const recorder = recorderAt(1);
  const tenant = { ...silent, trace_text_until: new Date(Date.now() + 60_000).toISOString() };
  for (let n = 0; n < 60; n++) {
    const trace = recorder.begin(id(n), tenant, "/v1/chat/completions");
    const body = { messages: [{ role: "user", content: "x".repeat(30_000) }] };
    trace.understood(readGeneration("/v1/chat/completions", body, true), false);
    trace.answered(outcome);
    recorder.finish(trace);
  }
  const sent: number[] = [];
  for (let batch = recorder.outbox.report(); batch; batch = recorder.outbox.report()) {
    expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(600_000);
    expect(batch.traces[0]?.text?.cut).toBe(true);
    sent.push(batch.traces.length);
    recorder.outbox.sent(batch);
  }
  expect(sent.reduce((sum, n) => sum + n, 0)).toBe(60);
  expect(sent.length).toBeGreaterThan(1);
});
