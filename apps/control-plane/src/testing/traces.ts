import { randomBytes } from "node:crypto";
import type { NodeStats, RequestTrace } from "@helm/contracts";

/** A trace as a node sends it: a kept answer, unless a test says otherwise. */
export function traceOf(over: Partial<RequestTrace> = {}): RequestTrace {
  return {
    id: randomBytes(16).toString("hex"),
    at: new Date().toISOString(),
    tenant_id: "t",
    route: "helm-auto",
    pair_id: "p",
    generation: 1,
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
    tokens: { prompt: 100, moved: null, tail: null },
    queue_ms: 0,
    legs: [
      {
        role: "pilot",
        model: "pilot",
        started_ms: 1,
        first_token_ms: 5,
        ended_ms: 20,
        prompt_tokens: 100,
        completion_tokens: 9,
        engine_queue_ms: null,
        engine_prefill_ms: null,
        answered: true,
        ended_by: null,
      },
    ],
    steps: null,
    judge: {
      version: "logprob-1",
      measure: "mean_logprob",
      score: -0.2,
      threshold: -1,
      escalate: false,
      label: null,
      evidence: { mean_logprob: -0.2, min_logprob: -1 },
    },
    first_token_ms: 4,
    total_ms: 21,
    share: null,
    text: null,
    kept: "rate",
    propensity: 0.05,
    ...over,
  };
}

type StatsRow = NodeStats["rows"][number];

export function statsRow(over: Partial<StatsRow> = {}): StatsRow {
  return {
    tenant_id: "t",
    pair_id: "p",
    decision: "kept",
    reason: "CONFIDENT",
    transfer: "none",
    requests: 1,
    tokens_moved: 0,
    first_token_ms_sum: 10,
    ...over,
  };
}

/** A node's report of these counters, that ended now or at the given moment. */
export function statsReport(
  rows: StatsRow[],
  over: Partial<NodeStats> = {},
  until: Date = new Date(),
): NodeStats {
  return {
    id: crypto.randomUUID(),
    since: new Date(until.getTime() - 3_000).toISOString(),
    until: until.toISOString(),
    rows,
    ...over,
  };
}
