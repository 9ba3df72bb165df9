import { expect, it } from "vitest";
import { heatFloor, heatOf } from "./heat-scale";

it("begins at the tenth below the lowest cosine and keeps a tenth of room", () => {
  expect(heatFloor([[0.62, 0.99]])).toBe(0.6);
  expect(heatFloor([[0.7, 0.99]])).toBe(0.7);
  expect(heatFloor([[0.999, 1]])).toBe(0.9);
  expect(heatFloor([])).toBe(0.9);
  expect(heatFloor([[-0.15]])).toBe(-0.2);
});

it("places a cosine between floor and 1", () => {
  expect(heatOf(0.8, 0.6)).toBeCloseTo(0.5);
  expect(heatOf(0.5, 0.6)).toBe(0);
  expect(heatOf(1.0001, 0.6)).toBe(1);
});
