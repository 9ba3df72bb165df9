import { expect, it } from "vitest";
import { MOST_TRACE_TEXT, RequestTrace, TraceBatch } from "./request-trace";

const trace: RequestTrace = {
  id: "0123456789abcdef0123456789abcdef",
  at: "2026-11-30T12:00:00.000Z",
  tenant_id: "t",
  route: "helm-auto",
  pair_id: "p",
  generation: 3,
  endpoint: "/v1/chat/completions",
  development: true,
  decision: "kept",
  reason: "CONFIDENT",
  served_by: "pilot",
  transfer: "none",
  status: 200,
  error_code: null,
  shortfall: null,
  mode: "window",
  streamed: false,
  session: false,
  tokens: { prompt: 9, moved: null, tail: null },
  queue_ms: 0,
  legs: [],
  steps: null,
  judge: null,
  first_token_ms: 4,
  total_ms: 9,
  share: null,
  text: null,
  kept: "rate",
  propensity: 0.05,
};

it("holds one request, and refuses what no request can be", () => {
  expect(RequestTrace.parse(trace)).toEqual(trace);
  for (const odd of [
    { id: "not an id" },
    { propensity: 0 },
    { total_ms: -1 },
    { at: "yesterday" },
    { decision: "guessed" },
    { text: { prompt: "x".repeat(MOST_TRACE_TEXT + 1), answer: null, cut: false } },
    { share: { kind: "kept_also_target", propensity: 2 } },
  ])
    expect(RequestTrace.safeParse({ ...trace, ...odd }).success).toBe(false);
});

it("bounds a message", () => {
  expect(TraceBatch.safeParse({ traces: [] }).success).toBe(false);
  expect(TraceBatch.safeParse({ traces: Array.from({ length: 201 }, () => trace) }).success).toBe(false);
});
