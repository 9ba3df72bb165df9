import { expect, it } from "vitest";
import { mulberry } from "../testing";
import { checkCalibration } from "./check-calibration";
import { wilson } from "./wilson";

it("lets each request stand for as many as its propensity says", () => {
  const found = checkCalibration([
    { probability: 0.1, label: false, propensity: 0.5 },
    { probability: 0.4, label: true, propensity: 0.25 },
  ]);
  expect(found?.predicted).toBeCloseTo((2 * 0.1 + 4 * 0.4) / 6);
  expect(found?.observed.value).toBeCloseTo(4 / 6);
  const plain = checkCalibration([
    { probability: 0.2, label: true, propensity: 0.01 },
    { probability: 0.2, label: false, propensity: 0.01 },
  ]);
  expect(plain?.observed).toEqual({ value: 0.5, ...wilson(0.5, 2) });
  expect(checkCalibration([])).toBeNull();
});

it("finds the truth of all requests in those drawn with unequal chances", () => {
  const random = mulberry(11);
  const all = Array.from({ length: 60_000 }, () => {
    const hard = random() < 0.3;
    return {
      probability: hard ? 0.4 : 0.05,
      label: random() < (hard ? 0.5 : 0.05),
      propensity: hard ? 0.2 : 0.02,
    };
  });
  const truth = all.filter(({ label }) => label).length / all.length;
  const found = checkCalibration(all.filter(({ propensity }) => random() < propensity));
  expect(found?.observed.low).toBeLessThan(truth);
  expect(found?.observed.high).toBeGreaterThan(truth);
  expect(found?.observed.value).toBeCloseTo(truth, 1);
});
