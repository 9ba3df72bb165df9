import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bootstrap, quantile, retentionInterval } from "./bootstrap";
import { many, sequence } from "./fixtures";
import { meanOfBuckets, pool, toColumns } from "./pool";

const mean = ([sum = 0]: Float64Array, drawn: number) => sum / drawn;

describe("the bootstrap", () => {
  it("agrees with the exact distribution over all 3,125 resamples of five sequences", () => {
    // Powers of two: every multiset has its own sum, so the exact quantiles are single values far apart.
    const values = Float64Array.of(1, 2, 4, 8, 16);
    const sums: number[] = [];
    for (let code = 0; code < 5 ** 5; code++) {
      let sum = 0;
      for (let place = 0, rest = code; place < 5; place++, rest = Math.floor(rest / 5))
        sum += values[rest % 5] ?? 0;
      sums.push(sum / 5);
    }
    const exact = Float64Array.from(sums).sort();
    const { low, high } = bootstrap(values, 1, mean);
    // 2,000 draws place the 2.5 % quantile between the exact 1.7 % and 3.3 % ones (two standard errors, 0.0035 each).
    expect(low).toBeGreaterThanOrEqual(quantile(exact, 0.017));
    expect(low).toBeLessThanOrEqual(quantile(exact, 0.033));
    expect(high).toBeGreaterThanOrEqual(quantile(exact, 0.967));
    expect(high).toBeLessThanOrEqual(quantile(exact, 0.983));
  });
  it("agrees with the exact interval of two sequences", () => {
    // Means of two draws from {0, 1}: 0, 0.5, 1 with 1/4, 1/2, 1/4, so both tails reach the ends.
    expect(bootstrap(Float64Array.of(0, 1), 1, mean)).toEqual({ low: 0, high: 1 });
  });
  it("agrees with the normal interval of a large known case", () => {
    // 400 sequences, half of them wholly right: the mean's standard error is sqrt(0.5 * 0.5 / 400) = 0.025.
    const { low, high } = retentionInterval(toColumns(many(400, (i) => i % 2)));
    expect(Math.abs(low - (0.5 - 1.96 * 0.025))).toBeLessThan(0.006);
    expect(Math.abs(high - (0.5 + 1.96 * 0.025))).toBeLessThan(0.006);
  });
  it("interpolates quantiles between order statistics", () => {
    expect(quantile(Float64Array.of(0, 1, 2, 3), 0.5)).toBe(1.5);
    expect(quantile(Float64Array.of(0, 10), 0.25)).toBe(2.5);
  });
  it("is the same every time, brackets the value, and is a point where nothing varies", () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 70, maxLength: 72 });
    fc.assert(
      fc.property(shares, (given) => {
        const columns = toColumns(given.map((share, i) => sequence(i, share)));
        const { retention } = pool(columns);
        const interval = retentionInterval(columns);
        expect(retentionInterval(columns)).toEqual(interval);
        expect(bootstrap(columns.counts, 6, meanOfBuckets)).toEqual(interval);
        expect(interval.low).toBeLessThanOrEqual(retention + 1e-12);
        expect(interval.high).toBeGreaterThanOrEqual(retention - 1e-12);
      }),
      { numRuns: 10 },
    );
    expect(retentionInterval(toColumns(many(80, 1)))).toEqual({ low: 1, high: 1 });
  });
  it("does not depend on the ids of sequences, but on their counts", () => {
    const rows = many(100, (i) => (i % 3) / 3);
    const renamed = rows.map((row) => ({ ...row, id: `x${row.id}` }));
    expect(retentionInterval(toColumns(renamed))).toEqual(retentionInterval(toColumns(rows)));
  });
});
