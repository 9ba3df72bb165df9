import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gaugeScale } from "./gauge-scale";

describe("gauge scale", () => {
  it("draws the upper half where every value lies there", () => {
    const scale = gaugeScale([0.77, 0.9, null, undefined, 0.996]);
    expect(scale.low).toBe(0.5);
    expect(scale.at(0.5)).toBeCloseTo(0);
    expect(scale.at(0.9)).toBeCloseTo(80);
    expect(scale.at(1)).toBeCloseTo(100);
  });

  it("draws all of it as soon as one value needs it", () => {
    expect(gaugeScale([0.31, 0.95]).low).toBe(0);
  });

  it("keeps every mark inside and in order", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2 }), (values) => {
        const scale = gaugeScale(values);
        const sorted = [...values].sort((a, b) => a - b).map(scale.at);
        expect(sorted.every((x, i) => x >= 0 && x <= 100 && (i === 0 || x >= (sorted[i - 1] ?? 0)))).toBe(
          true,
        );
      }),
    );
  });
});
