import type { CostPoint } from "@helm/contracts";
import { expect, it } from "vitest";
import { breakEvenOf } from "./break-even";

const paysFrom = (cost: CostPoint[]) => breakEvenOf(cost).transfer;
const wholeFrom = (cost: CostPoint[]) => breakEvenOf(cost).with_pilot;

const point = (
  tokens: number,
  target: number | null,
  transfer: number | null,
  more: Partial<CostPoint> = {},
): CostPoint => ({
  tokens,
  pilot_prefill_ms: 5,
  target_prefill_ms: target,
  map_ms: null,
  move_ms: null,
  tail_ms: null,
  transfer_ms: transfer,
  ...more,
});

it("pays from the first point after which it always pays, whatever order the points come in", () => {
  const cost = [point(8192, 414, 91), point(512, 36, 40), point(2048, 103, 26)];
  expect(paysFrom(cost)).toBe(2048);
  expect(paysFrom([point(512, 36, 11), point(2048, 20, 26), point(8192, 414, 91)])).toBe(8192);
});

it("never pays where the longest measured point does not, or nothing was measured", () => {
  expect(paysFrom([point(512, 36, 11), point(2048, 20, 26)])).toBeNull();
  expect(paysFrom([point(512, 20, 20)])).toBeNull();
  expect(paysFrom([point(512, null, null)])).toBeNull();
  expect(paysFrom([])).toBeNull();
});

it("passes over points that were left out", () => {
  const cost = [point(512, 36, 11), point(2048, null, null, { left_out: "too slow" })];
  expect(paysFrom(cost)).toBe(512);
});

it("counts the pilot's prefill where the whole path is asked for", () => {
  // The published MI210 table: break-even at 512 with the pilot's prefill of 25 ms counted.
  expect(wholeFrom([point(512, 36, 11, { pilot_prefill_ms: 25 })])).toBeNull();
  expect(wholeFrom([point(512, 36.1, 11, { pilot_prefill_ms: 25 })])).toBe(512);
  expect(wholeFrom([point(512, 36.1, 11, { pilot_prefill_ms: null })])).toBeNull();
});

it("compares whole paths by name", () => {
  const more = { escalated_with_transfer_ms: 80, escalated_without_transfer_ms: 100, direct_target_ms: 60 };
  const cost = [point(512, 36, 11, more)];
  expect(breakEvenOf(cost)).toMatchObject({ escalated: 512, direct: null });
  expect(breakEvenOf([point(512, 36, 11)])).toMatchObject({ transfer: 512, escalated: null, direct: null });
});
