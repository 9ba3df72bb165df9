import type { RunComparison } from "@helm/contracts";
import { expect, it } from "vitest";
import { comparisonLines } from "./comparison";

const estimate = (value: number) => ({ value, low: value - 0.005, high: value + 0.005, n: 256 });

it("says the difference in points, signed, as a whole and by bucket", () => {
  const comparison: RunComparison = {
    comparable: true,
    paired: true,
    note: null,
    shared: 256,
    sequences: { first: 256, second: 256 },
    first: 0.9687,
    second: 0.9814,
    difference: estimate(0.0127),
    buckets: { first: estimate(0.02), early: estimate(0), late: estimate(-0.01) },
    outcome: "second_better",
    sentence: "The second run retains 1.27 points more.",
  };
  const lines = comparisonLines(comparison);
  expect(lines[0]).toBe(comparison.sentence);
  expect(lines[1]).toContain("first 0.969 (256), second 0.981 (256)");
  expect(lines).toContain("retention           +1.27  +0.77 to +1.77");
  expect(lines.at(-1)).toBe("17-64               -1.00  -1.50 to -0.50");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

it("says why two runs cannot be compared", () => {
  expect(comparisonLines({ comparable: false, reason: "They share nothing." })).toEqual([
    "Not comparable: They share nothing.",
  ]);
});
