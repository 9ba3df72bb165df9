import { expect, it } from "vitest";
import { fitFloor, fitRows, fitTicks, meanOf } from "./fit-rows";

const side = (r2: number | null, best_single_r2: number | null) => ({ r2, best_single_r2 });

it("takes the layers in order, and means over what is known", () => {
  const rows = fitRows([
    { layer: 1, fit: { k: side(0.8, 0.6), v: side(0.5, null) } },
    { layer: 0, fit: { k: side(0.6, 0.4), v: side(0.7, 0.3) } },
  ]);
  expect(rows.map(({ layer }) => layer)).toEqual([0, 1]);
  expect(meanOf(rows, "k")).toBeCloseTo(0.7);
  expect(meanOf(rows, "vSingle")).toBe(0.3);
  expect(meanOf([], "k")).toBeNull();
  expect(fitFloor(rows)).toBe(0.3);
  expect(fitFloor([])).toBe(0.9);
});

it("puts ticks at even steps that end at 1", () => {
  expect(fitTicks(0.8)).toEqual([0.8, 0.85, 0.9, 0.95, 1]);
  expect(fitTicks(0.5)).toEqual([0.5, 0.6, 0.7, 0.8, 0.9, 1]);
  expect(fitTicks(0.3)).toEqual([0.4, 0.6, 0.8, 1]);
  expect(fitTicks(-1)).toEqual([-1, -0.5, 0, 0.5, 1]);
});
