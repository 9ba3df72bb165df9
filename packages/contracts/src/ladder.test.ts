import { expect, it } from "vitest";
import { correctPerSecond, Ladder, type LadderRung, targetOutcomes } from "./ladder";

const rung = (changes: Partial<LadderRung> = {}): LadderRung => ({
  clients: 4,
  requests: 40,
  correct: 30,
  corrupted: 0,
  refused: 10,
  failed: 0,
  seconds: 2,
  output_tokens: 300,
  first_token_ms: { p50: 1, p95: 2, p99: 3 },
  total_ms: { p50: 10, p95: 20, p99: 30 },
  itl_ms: null,
  memory_bytes: null,
  shortfall_bytes: null,
  broke: [],
  ...changes,
});

const ladder = (changes: Partial<Ladder> = {}): Ladder => ({
  v: 1,
  type: "ladder",
  at: "2026-11-30T10:00:00.000Z",
  finished_at: "2026-11-30T10:01:00.000Z",
  gateway: "http://127.0.0.1:8000",
  model: "pilot",
  served_by: "pilot",
  engine: null,
  development: true,
  load: { prompts: 8, prompts_sha256: "a".repeat(64), max_tokens: 16 },
  alone: { first_token_ms: 5, itl_ms: 2, total_ms: 40 },
  max_itl_ratio: 1.2,
  max_memory_bytes: null,
  targets: [],
  rungs: [rung()],
  stopped: null,
  ...changes,
});

it("counts only what was complete and correct", () => {
  expect(correctPerSecond(rung())).toBe(15);
  const outcomes = targetOutcomes({
    rungs: [rung()],
    targets: [
      { clients: 4, requests_per_second: 15 },
      { clients: 4, requests_per_second: 15.1 },
      { clients: 8, requests_per_second: 1 },
    ],
  });
  expect(outcomes.map(({ met }) => met)).toEqual([true, false, false]);
  expect(outcomes[2]?.reached).toBeNull();
});

it("takes a ladder whose rungs climb and account for every request", () => {
  expect(Ladder.safeParse(ladder()).success).toBe(true);
  const wrong: Partial<Ladder>[] = [
    { rungs: [rung({ correct: 29 })] },
    { rungs: [rung({ clients: 4 }), rung({ clients: 4 })] },
    { rungs: [rung({ clients: 8 }), rung({ clients: 4 })] },
    { rungs: [rung({ total_ms: { p50: 3, p95: 2, p99: 4 } })] },
    { rungs: [] },
    { stopped: { clients: 8, rule: "CORRUPTED" } },
    { finished_at: "2026-11-30T09:59:59.000Z" },
    { gateway: "nowhere" },
  ];
  for (const changes of wrong) expect(Ladder.safeParse(ladder(changes)).success).toBe(false);
});
