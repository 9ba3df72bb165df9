import { expect, it } from "vitest";
import { costRows, paysFrom } from "./cost-points";

const point = (tokens: number, target: number | null, transfer: number | null, pilot: number | null = 5) => ({
  tokens,
  pilot_prefill_ms: pilot,
  target_prefill_ms: target,
  map_ms: null,
  move_ms: null,
  tail_ms: null,
  transfer_ms: transfer,
});

it("pays from the first point after which it always pays", () => {
  expect(paysFrom(costRows([point(512, 36, 40), point(2048, 103, 26), point(8192, 414, 91)]))).toBe(2048);
  expect(paysFrom(costRows([point(512, 36, 11), point(2048, 20, 26), point(8192, 414, 91)]))).toBe(8192);
});

it("never pays where the last measured point does not", () => {
  expect(paysFrom(costRows([point(512, 36, 11), point(2048, 20, 26)]))).toBeNull();
  expect(paysFrom([])).toBeNull();
});

it("leaves out points that were left out, and counts the pilot's prefill in the whole path", () => {
  expect(costRows([point(2048, 103, 26, 40), point(32768, null, null, null)])).toEqual([
    { tokens: 2048, target: 103, transfer: 26, whole: 66 },
  ]);
});
