import type { Assessment } from "@helm/contracts";
import { expect, it } from "vitest";
import { answersOf, besides, type Glanced } from "./glance-words";

const buckets = { first: 0.9, early: 0.9, late: 0.9 };
const assessment: Assessment = {
  gate: 0.9,
  gate_on: "lower",
  verdict: "CLEARED",
  failure: null,
  retention: { value: 0.95, low: 0.93, high: 0.96, n: 256, positions: 20_000, buckets },
  report: null,
  prefix_gain: null,
  arms: {},
  by_domain: {},
  net_rescue: null,
  gold_gain: null,
  warnings: [],
  sentence: "",
};
const run = (changes: Partial<Assessment>, more: Partial<Glanced> = {}): Glanced => ({
  assessment: { ...assessment, ...changes },
  cost: [],
  breakEven: null,
  gateLooks: 1,
  control: false,
  developmentOnly: false,
  device: "cuda",
  ...more,
});
const answers = (glanced: Glanced) => answersOf(glanced).map(({ answer }) => answer);

it("says whether a pair may be used, and where", () => {
  expect(answers(run({}))[0]).toBe("Yes");
  expect(answers(run({}, { developmentOnly: true }))[0]).toBe("On development nodes");
  expect(answers(run({ warnings: ["NOT_ABOVE_PILOT"] }))[0]).toBe("Cleared, not routed");
  expect(answers(run({ verdict: "BELOW_GATE" }))[0]).toBe("No, below the gate");
  const failure = { code: "SELF_MAP_MISSED" as const, message: "" };
  const failed = answers(run({ verdict: null, failure }));
  expect([failed[0], failed[3], failed[4]]).toEqual(["No verdict", "SELF_MAP_MISSED", "Not yet"]);
});

it("says what it saves only where it was measured, and never calls it more", () => {
  expect(answers(run({}))[2]).toBe("Not measured");
  const point = {
    tokens: 2048,
    pilot_prefill_ms: 40,
    target_prefill_ms: 103,
    map_ms: 20,
    move_ms: 1,
    tail_ms: 5,
    transfer_ms: 26,
  };
  const breakEven = { transfer: 2048, with_pilot: null, escalated: null, direct: null };
  const [, , saves] = answersOf(run({}, { cost: [point], breakEven }));
  expect(saves).toMatchObject({ answer: "Pays from 2,048 tokens", tone: "good" });
  expect(saves?.rest).toContain("26.0 ms instead of 103 ms");
  expect(answers(run({}, { cost: [point] }))[2]).toBe("Nothing yet");
});

it("quotes the saving at a length that the gate measured, and says where longer prompts miss it", () => {
  const point = (tokens: number, target: number, transfer: number) => ({
    tokens,
    pilot_prefill_ms: 1,
    target_prefill_ms: target,
    map_ms: 1,
    move_ms: 1,
    tail_ms: 1,
    transfer_ms: transfer,
  });
  const score = (retention: number, low: number) => ({ retention, low, high: 1, n: 16, buckets });
  const changes = {
    by_prefix: { "64-127": score(0.98, 0.97), "256-511": score(0.98, 0.97) },
    long: [{ multiple: 4 as const, arms: { mapper: score(0.855, 0.8) } }],
  };
  const breakEven = { transfer: 64, with_pilot: null, escalated: null, direct: null };
  const cost = [point(512, 46, 22), point(2048, 240, 69)];
  const [, , saves] = answersOf(run(changes, { cost, breakEven }));
  expect(saves?.rest).toContain("22.0 ms instead of 46.0 ms of prefill at 512 tokens");
  expect(saves?.rest).toMatch(/longer prompts keep less than the gate asks \(lower bound 0\.80+ at 4 times/);
  const kept = { ...changes, long: [{ multiple: 4 as const, arms: { mapper: score(0.95, 0.92) } }] };
  expect(answersOf(run(kept, { cost, breakEven }))[2]?.rest).not.toContain("longer prompts");
});

it("says why it was refused: what is missing, under which gate, and where it is weakest", () => {
  const retention = { value: 0.92, low: 0.91, high: 0.93, n: 256, positions: 20_000, buckets };
  const strict = answersOf(run({ verdict: "BELOW_GATE", gate: 0.98, retention, diagnosis: null }));
  expect(strict[3]).toMatchObject({
    question: "Why was it refused?",
    answer: "7.0 points short",
    rest: expect.stringMatching(/stricter gate than the default of 0\.90.+weakest: the 1st token at 0\.900/),
  });
  expect(strict[4]?.answer).toBe("For the stricter gate only");
  expect(strict[4]?.rest).not.toMatch(/refitting will not/);
  expect(answersOf(run({})).map(({ question }) => question)).not.toContain("Why was it refused?");
});

it("says from the diagnosis whether refitting is worth it", () => {
  const low = { value: 0.85, low: 0.84, high: 0.86, n: 256, positions: 20_000, buckets };
  const below = (code: "MAP_WRONG" | "TARGET_SENSITIVE" | null) =>
    answers(
      run({ verdict: "BELOW_GATE", retention: low, diagnosis: code ? { code, message: "" } : null }),
    )[4];
  expect(below("MAP_WRONG")).toBe("It may be");
  expect(below("TARGET_SENSITIVE")).toBe("No");
  expect(below(null)).toBe("Not told");
  expect(answers(run({}))[3]).toBe("Not for the gate");
});

it("never rounds a figure onto the gate's other side", () => {
  expect(besides(0.8996, 0.9)).toBe("0.8996");
  expect(besides(0.93, 0.9)).toBe("0.930");
  expect(besides(0.9, 0.9)).toBe("0.900");
});
