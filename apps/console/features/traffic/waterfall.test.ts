import type { RequestTrace } from "@helm/contracts";
import { expect, it } from "vitest";
import { waterfallOf } from "./waterfall";

const leg = (over: Partial<RequestTrace["legs"][number]>): RequestTrace["legs"][number] => ({
  role: "pilot",
  model: "pilot",
  started_ms: 2,
  first_token_ms: 5,
  ended_ms: 20,
  prompt_tokens: 9,
  completion_tokens: 4,
  engine_queue_ms: null,
  engine_prefill_ms: null,
  answered: false,
  ended_by: null,
  ...over,
});
const trace = (over: Partial<RequestTrace>) =>
  ({
    queue_ms: null,
    steps: null,
    transfer: "none",
    total_ms: 60,
    legs: [],
    ...over,
  }) as unknown as RequestTrace;

it("puts waiting, legs and the steps of a transfer on one scale", () => {
  const bars = waterfallOf(
    trace({
      queue_ms: 1.5,
      transfer: "transferred",
      steps: { stage_ms: 4, map_ms: 3, install_ms: 2, tail_ms: null, total_ms: 12 },
      legs: [
        leg({ ended_by: "not_needed" }),
        leg({ role: "stage", started_ms: 20, ended_ms: 24, completion_tokens: null }),
        leg({ role: "target", model: "target", started_ms: 24, ended_ms: null, answered: true }),
      ],
    }),
  );
  expect(bars.map(({ name, fromMs, toMs }) => [name, fromMs, toMs])).toEqual([
    ["waits for room", 0, 1.5],
    ["pilot answers", 2, 20],
    ["pilot's cache is staged", 20, 24],
    ["target answers", 24, 60],
    ["keys and values mapped", 24, 27],
    ["installed in the target's cache", 27, 29],
  ]);
  expect(bars[1]?.note).toContain("not needed");
});

it("draws no steps of a transfer that did not take place", () => {
  const steps = { stage_ms: 4, map_ms: 3, install_ms: 2, tail_ms: 1, total_ms: null };
  const legs = [leg({ role: "target", answered: true })];
  expect(waterfallOf(trace({ transfer: "fallback", steps, legs }))).toHaveLength(1);
});
