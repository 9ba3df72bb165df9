import type { CostPoint } from "@helm/contracts";
import { expect, it } from "vitest";
import { costRows, longestMeasured, pathRows } from "./cost-points";
import type { Published } from "./published";

const point = (
  tokens: number,
  target: number | null,
  transfer: number | null,
  pilot: number | null = 5,
): CostPoint => ({
  tokens,
  pilot_prefill_ms: pilot,
  target_prefill_ms: target,
  map_ms: null,
  move_ms: null,
  tail_ms: null,
  transfer_ms: transfer,
});

it("leaves out points that were left out, and counts the pilot's prefill in the dashed line", () => {
  expect(costRows([point(2048, 103, 26, 40), point(32768, null, null, null)])).toEqual([
    { tokens: 2048, target: 103, transfer: 26, whole: 66 },
  ]);
});

it("puts published points at their own lengths, on the same row where the lengths meet", () => {
  const published: Published = {
    pair: "a to b",
    where: "there",
    retention: null,
    points: [
      { tokens: 512, target: 36, transfer: 11 },
      { tokens: 2048, target: 103, transfer: 26 },
    ],
  };
  expect(costRows([point(2048, 90, 20)], published)).toEqual([
    { tokens: 512, publishedTarget: 36, publishedTransfer: 11 },
    { tokens: 2048, target: 90, transfer: 20, whole: 25, publishedTarget: 103, publishedTransfer: 26 },
  ]);
});

it("draws whole paths only where they were measured", () => {
  const paths = {
    direct_target_ms: 60,
    escalated_with_transfer_ms: 80,
    escalated_without_transfer_ms: 100,
    decision_tokens: 8,
  };
  expect(pathRows([point(512, 36, 11)])).toEqual([]);
  expect(pathRows([{ ...point(512, 36, 11), ...paths }])).toEqual([
    { tokens: 512, direct: 60, withTransfer: 80, withoutTransfer: 100 },
  ]);
});

it("finds the longest length at which both were measured", () => {
  expect(longestMeasured([point(512, 36, 11), point(8192, 414, 91), point(32768, 900, null)])).toEqual({
    tokens: 8192,
    target: 414,
    transfer: 91,
  });
  expect(longestMeasured([])).toBeNull();
});
