import type { Ladder, LadderRung } from "@helm/contracts";
import { expect, it } from "vitest";
import { best, chartRows, endWords, highestClean, notComparable, targetWords } from "./ladder-words";

const rung = (clients: number, correct: number, seconds: number): LadderRung => ({
  clients,
  requests: 32,
  correct,
  corrupted: 0,
  refused: 32 - correct,
  failed: 0,
  seconds,
  output_tokens: 1,
  first_token_ms: { p50: 1, p95: clients, p99: clients },
  total_ms: null,
  itl_ms: null,
  memory_bytes: null,
  shortfall_bytes: null,
  broke: [],
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
  targets: [
    { clients: 2, requests_per_second: 16 },
    { clients: 8, requests_per_second: 1 },
  ],
  rungs: [rung(1, 32, 4), rung(2, 32, 2), rung(4, 20, 2)],
  stopped: null,
  ...changes,
});

it("says what a ladder came to", () => {
  expect(highestClean(ladder())).toBe(2);
  expect(highestClean(ladder({ rungs: [rung(1, 31, 1)] }))).toBeNull();
  expect(best(ladder())).toEqual({ clients: 2, rate: 16 });
  expect(targetWords(ladder())).toBe("1 of 2 met");
  expect(targetWords(ladder({ targets: [] }))).toBe("none written down");
  expect(endWords(ladder())).toBe("Every rung stood, up to 4 clients at once.");
  expect(endWords(ladder({ stopped: { clients: 4, rule: "CORRUPTED" } }))).toBe(
    "Stopped at 4 clients: an answer was not what the model says alone.",
  );
});

it("compares only what was asked alike", () => {
  expect(notComparable(ladder(), ladder())).toBeNull();
  expect(notComparable(ladder(), ladder({ model: "target" }))).toMatch(/pilot.*target/);
  const load = ladder().load;
  expect(notComparable(ladder(), ladder({ load: { ...load, max_tokens: 17 } }))).toMatch(/16.*17/);
  expect(notComparable(ladder(), ladder({ load: { ...load, prompts_sha256: "b".repeat(64) } }))).toMatch(
    /prompts/,
  );
});

it("draws both by clients, with gaps where one has no such rung", () => {
  const rows = chartRows(ladder(), ladder({ rungs: [rung(2, 32, 1), rung(8, 32, 1)] }));
  expect(rows.map(({ clients, shown, beside, target }) => [clients, shown, beside, target])).toEqual([
    [1, 8, null, null],
    [2, 16, 32, 16],
    [4, 10, null, null],
    [8, null, 32, 1],
  ]);
});
