import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareRuns } from "./compare-runs";
import { many, sequence } from "./fixtures";

function compared(...runs: Parameters<typeof compareRuns>) {
  const result = compareRuns(...runs);
  if (!result.comparable) throw new Error(result.reason);
  return result;
}

describe("two runs on the same sequences", () => {
  it("differ by exactly nothing where their counts are the same", () => {
    const rows = many(100, (i) => (i % 7) / 7);
    expect(compared(rows, rows)).toMatchObject({
      shared: 100,
      difference: { value: 0, low: 0, high: 0, n: 100 },
      outcome: "not_told_apart",
    });
  });

  it("have an interval of width zero where every sequence gains the same, however much sequences vary", () => {
    const worse = many(100, (i) => (i % 2 ? 0.2 : 0.8)).map((row) => ({
      ...row,
      first: { agree: 1, total: 3 },
    }));
    const better = worse.map((row) => ({ ...row, first: { agree: 2, total: 3 } }));
    const { difference, buckets, outcome, first, second } = compared(worse, better);
    // One of three buckets gains one of three positions: (1 / 3) / 3.
    expect(difference.value).toBeCloseTo(1 / 9, 12);
    expect(difference.high - difference.low).toBeLessThan(1e-12);
    expect(second - first).toBeCloseTo(1 / 9, 12);
    expect(buckets.first.value).toBeCloseTo(1 / 3, 12);
    expect(buckets.late).toMatchObject({ value: 0, low: 0, high: 0 });
    expect(outcome).toBe("second_better");
  });

  it("are told apart pairwise where their own intervals overlap by far", () => {
    const worse = many(100, (i) => (i % 2 ? 0.3 : 0.9));
    const better = worse.map((row) => ({ ...row, late: { agree: row.late.agree + 6, total: 144 } }));
    const { sentence, outcome } = compared(worse, better);
    expect(outcome).toBe("second_better");
    expect(sentence).toMatch(/^The second run retains 1\.\d\d points more \(95 % interval/);
  });

  it("turn round when their order does", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const shares = fc.array(fc.tuple(share, share), { minLength: 16, maxLength: 40 });
    fc.assert(
      fc.property(shares, (given) => {
        const a = given.map(([one], i) => sequence(i, one));
        const b = given.map(([, two], i) => sequence(i, two));
        const there = compared(a, b);
        const back = compared(b, a);
        expect(back.difference.value).toBeCloseTo(-there.difference.value, 12);
        expect(back.difference.low).toBeCloseTo(-there.difference.high, 12);
        expect(there.difference.low).toBeLessThanOrEqual(there.difference.value + 1e-12);
        expect(there.difference.high).toBeGreaterThanOrEqual(there.difference.value - 1e-12);
      }),
      { numRuns: 15 },
    );
  });

  it("are compared on what they share, in whatever order it comes, and on the gate split alone", () => {
    const rows = many(40, (i) => (i % 5) / 5);
    const other = [...rows].reverse().slice(0, 30);
    const report = many(40, 0, { split: "report" });
    expect(compared(rows, [...other, ...report])).toMatchObject({ shared: 30, difference: { value: 0 } });
  });
});

it("compares unpaired, with the reason, what shares too little or was scored at other positions", () => {
  const rows = many(40, (i) => (i % 5) / 5).map((row) => ({ ...row, digest: `a${row.id}` }));
  const renamed = rows.map((row) => ({ ...row, id: `x${row.id}` }));
  expect(compared(rows, renamed)).toMatchObject({
    paired: false,
    shared: 0,
    sequences: { first: 40, second: 40 },
    note: expect.stringContaining("share 0 probe sequences"),
  });
  const shorter = rows.map((row) => ({ ...row, late: { agree: 1, total: 10 } }));
  const reworded = rows.map((row) => ({ ...row, digest: `b${row.id}` }));
  for (const other of [shorter, reworded])
    expect(compared(rows, other)).toMatchObject({
      paired: false,
      note: expect.stringContaining("other positions"),
    });
  expect(compareRuns(rows, rows.slice(0, 40))).toMatchObject({ comparable: true, paired: true });
  expect(compareRuns(rows, renamed.slice(0, 8))).toMatchObject({ comparable: false });
});

it("draws unpaired runs apart: an interval of the two runs' own variances added", () => {
  const varied = many(200, (i) => (i % 2 ? 0.2 : 0.8));
  const other = varied.map((row) => ({ ...row, id: `x${row.id}` }));
  const { difference, outcome, sentence } = compared(varied, other);
  expect(difference.value).toBeCloseTo(0, 12);
  // All sequences have equally many positions: the normal interval of a difference of two means of 200.
  const own = varied.map(
    ({ first, early, late }) =>
      (first.agree / first.total + early.agree / early.total + late.agree / late.total) / 3,
  );
  const mean = own.reduce((sum, value) => sum + value, 0) / 200;
  const variance = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 200;
  const half = 1.96 * Math.sqrt((2 * variance) / 200);
  expect((difference.high - difference.low) / 2 / half).toBeGreaterThan(0.93);
  expect((difference.high - difference.low) / 2 / half).toBeLessThan(1.07);
  expect(outcome).toBe("not_told_apart");
  expect(sentence).toContain("unpaired, 200 and 200 sequences");
});
