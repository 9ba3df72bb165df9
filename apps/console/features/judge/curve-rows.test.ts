import { expect, it } from "vitest";
import { curveRows, floorOf, ticksFrom } from "./curve-rows";

it("draws random and oracle from the pilot alone to the target alone", () => {
  const point = (rate: number, quality: number) => ({
    rate,
    threshold: 1 - rate,
    quality,
    low: quality - 0.05,
    high: quality,
  });
  const rows = curveRows({ curve: [point(0, 0.8), point(0.1, 0.88), point(0.5, 1), point(1, 1)] });
  expect(rows.map(({ percent }) => percent)).toEqual([0, 10, 50, 100]);
  expect(rows[0]).toMatchObject({ judge: 0.8, random: 0.8, oracle: 0.8 });
  expect(rows[1]?.random).toBeCloseTo(0.82);
  expect(rows[1]?.oracle).toBeCloseTo(0.9);
  expect(rows[2]).toMatchObject({ oracle: 1 });
  expect(rows.at(-1)).toMatchObject({ random: 1, oracle: 1 });
  expect(floorOf(rows)).toBeCloseTo(0.7);
});

it("marks tenths, or fifths where the axis is long", () => {
  expect(ticksFrom(0.7)).toEqual([0.7, 0.8, 0.9, 1]);
  expect(ticksFrom(0.2)).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
  expect(ticksFrom(0.9)).toEqual([0.9, 1]);
});
