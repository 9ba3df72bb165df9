import type { Ladder, LadderRung } from "@helm/contracts";

/** What the ladder's verb prints for two rungs that stood. */
export function ladder(changes: Partial<Ladder> = {}): Ladder {
  return {
    v: 1,
    type: "ladder",
    at: "2026-11-30T10:00:00.000Z",
    finished_at: "2026-11-30T10:01:00.000Z",
    gateway: "http://127.0.0.1:8000",
    model: "pilot",
    served_by: "pilot",
    engine: "reference",
    development: true,
    load: { prompts: 8, prompts_sha256: "a".repeat(64), max_tokens: 16 },
    alone: { first_token_ms: 5, itl_ms: 2, total_ms: 40 },
    max_itl_ratio: 1.2,
    max_memory_bytes: null,
    targets: [{ clients: 2, requests_per_second: 10 }],
    rungs: [rung(1), rung(2)],
    stopped: null,
    ...changes,
  };
}

function rung(clients: number): LadderRung {
  return {
    clients,
    requests: 32,
    correct: 32,
    corrupted: 0,
    refused: 0,
    failed: 0,
    seconds: 2,
    output_tokens: 400,
    first_token_ms: { p50: 5, p95: 8, p99: 9 },
    total_ms: { p50: 40, p95: 60, p99: 70 },
    itl_ms: { p50: 2, p95: 3, p99: 4 },
    memory_bytes: null,
    shortfall_bytes: null,
    broke: [],
  };
}
