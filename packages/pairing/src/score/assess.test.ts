import type { SequenceCounts } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AssessmentInput, assess } from "./assess";
import { bootstrap, quantile, retentionInterval } from "./bootstrap";
import { meanOfBuckets, pool, toColumns } from "./pool";

/** One sequence with three hand-over points: 3, 45 and 144 positions. */
function sequence(index: number, share: number, extra: Partial<SequenceCounts> = {}): SequenceCounts {
  const count = (total: number) => ({ agree: Math.round(total * share), total });
  return {
    id: `s${index}`,
    domain: index % 2 ? "prose" : "chat",
    split: "gate",
    prefixes: [64, 128, 256],
    first: count(3),
    early: count(45),
    late: count(144),
    recovered: 20,
    lost: 2,
    ...extra,
  };
}

function many(n: number, share: number | ((i: number) => number), extra: Partial<SequenceCounts> = {}) {
  return Array.from({ length: n }, (_, i) =>
    sequence(i, typeof share === "number" ? share : share(i), extra),
  );
}

function input(mapper: SequenceCounts[], changes: Partial<AssessmentInput> = {}): AssessmentInput {
  const counts = {
    mapper,
    identity: many(100, 1),
    self_map: many(100, 1),
    zero_cache: many(100, 0.2),
    other_sequence: many(100, 0.4),
  };
  return { counts, gate: 0.9, gateOn: "lower", control: false, dtype: "float32", ...changes };
}

describe("retention", () => {
  it("pools positions within a bucket and then takes the mean of the three", () => {
    const rows = many(100, 1).map((row, i) => ({
      ...row,
      first: { agree: i < 50 ? 4 : 0, total: 4 },
      early: { agree: i === 0 ? 10 : 0, total: i === 0 ? 10 : 30 },
      late: { agree: 90, total: 100 },
    }));
    const result = assess(input(rows));
    expect(result.retention.buckets).toEqual({ first: 0.5, early: 10 / 2980, late: 0.9 });
    expect(result.retention.value).toBeCloseTo((0.5 + 10 / 2980 + 0.9) / 3, 12);
    expect(result.retention).toMatchObject({ n: 100, positions: 400 + 2980 + 10000 });
  });

  it("counts the gate split alone and sets the report split beside it", () => {
    const result = assess(
      input([...many(100, 1), ...many(50, 0.6, { split: "report" }), ...many(20, 0, { split: "long" })]),
    );
    expect(result.retention).toMatchObject({ value: 1, n: 100 });
    expect(result.report?.retention).toBeCloseTo((2 / 3 + 27 / 45 + 86 / 144) / 3, 12);
    expect(result.warnings).toContain("GATE_OVERFITTED");
  });

  it("splits by domain", () => {
    const result = assess(input(many(100, (i) => (i % 2 ? 1 : 0))));
    expect(result.by_domain.prose?.retention).toBe(1);
    expect(result.by_domain.chat?.retention).toBe(0);
  });
});

describe("the gate", () => {
  const rows = many(100, (i) => (i % 10 === 0 ? 0.3 : 1));
  it("compares the lower bound, or the value where the setting says so", () => {
    const { retention } = assess(input(rows));
    const gate = (retention.low + retention.value) / 2;
    expect(assess(input(rows, { gate })).verdict).toBe("BELOW_GATE");
    expect(assess(input(rows, { gate, gateOn: "point" })).verdict).toBe("CLEARED");
    expect(assess(input(rows, { gate: retention.low })).verdict).toBe("CLEARED");
  });
  it("says the verdict in words and never rounds up to the gate", () => {
    const result = assess(input(rows, { gate: 0.9301, gateOn: "point" }));
    expect(result.sentence).toMatch(/^(Cleared|Below the gate): retention 0\.\d{3} \(95 % interval/);
  });
});

describe("bounds of the arms", () => {
  const code = (changes: Partial<AssessmentInput["counts"]>, more: Partial<AssessmentInput> = {}) => {
    const given = input(many(100, 1), more);
    const result = assess({ ...given, counts: { ...given.counts, ...changes } });
    expect(result.verdict === null).toBe(result.failure !== null);
    return result.failure?.code ?? null;
  };
  it("holds identity to 0.999 in float32 and 0.99 in bfloat16", () => {
    const almost = [...many(99, 1), sequence(99, 0.5)];
    expect(code({ identity: almost })).toBe("IDENTITY_MISSED");
    expect(code({ identity: almost }, { dtype: "bfloat16" })).toBe(null);
    expect(code({ identity: many(100, 0.9) }, { dtype: "bfloat16" })).toBe("IDENTITY_MISSED");
    expect(code({ identity: undefined })).toBe("IDENTITY_MISSED");
  });
  it("holds self-map to 0.98; a control's mapper is its self-map", () => {
    expect(code({ self_map: many(100, 0.9) })).toBe("SELF_MAP_MISSED");
    expect(code({ self_map: undefined })).toBe("SELF_MAP_MISSED");
    expect(code({ self_map: undefined }, { control: true })).toBe(null);
  });
  it("refuses probes that are too short or blind", () => {
    expect(code({ mapper: many(60, 1) })).toBe("PROBES_TOO_SHORT");
    expect(code({ other_sequence: many(100, 0.8) })).toBe("PROBES_BLIND");
    expect(code({ zero_cache: undefined, other_sequence: undefined })).toBe("PROBES_BLIND");
  });
});

describe("prefix gain", () => {
  it("is measured from the better of zero cache and a stranger's cache", () => {
    const result = assess(input(many(100, 0.8)));
    const other = result.arms.other_sequence?.retention ?? 1;
    expect(result.arms.zero_cache?.retention).toBeLessThan(other);
    expect(result.prefix_gain).toBeCloseTo((result.retention.value - other) / (1 - other), 12);
  });
});

describe("against the pilot", () => {
  it("warns where rescue or gold are not above zero, by the right name", () => {
    expect(assess(input(many(100, 1))).warnings).toEqual([]);
    expect(assess(input(many(100, 1, { recovered: 2, lost: 5 }))).warnings).toEqual(["NOT_ABOVE_PILOT"]);
    expect(assess(input(many(100, 1, { gold_gain: -1, native_gold_gain: 2 }))).warnings).toEqual([
      "NOT_ABOVE_PILOT",
    ]);
    expect(assess(input(many(100, 1, { gold_gain: -1, native_gold_gain: -1 }))).warnings).toEqual([
      "TARGET_NOT_BETTER",
    ]);
    expect(assess(input(many(100, 1, { recovered: null, lost: null }))).warnings).toEqual([
      "NOT_ABOVE_PILOT",
    ]);
  });
  it("never applies to a control", () => {
    const result = assess(input(many(100, 1, { recovered: 0, lost: 9 }), { control: true }));
    expect(result.warnings).toEqual([]);
    expect(result.net_rescue).toBeNull();
  });
});

describe("the bootstrap", () => {
  it("agrees with the normal interval of a known case", () => {
    // 400 sequences, a share p = 0.5 of them wholly right: the mean's standard error is sqrt(p (1 - p) / 400) = 0.025.
    const result = assess(input(many(400, (i) => i % 2)));
    expect(result.retention.value).toBe(0.5);
    expect(Math.abs(result.retention.low - (0.5 - 1.96 * 0.025))).toBeLessThan(0.006);
    expect(Math.abs(result.retention.high - (0.5 + 1.96 * 0.025))).toBeLessThan(0.006);
  });
  it("agrees with the exact interval of two sequences", () => {
    // Means of two draws from {0, 1}: 0, 0.5, 1 with 1/4, 1/2, 1/4, so both tails reach the ends.
    const interval = bootstrap(Float64Array.of(0, 1), 1, ([sum = 0], n) => sum / n);
    expect(interval).toEqual({ low: 0, high: 1 });
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
    const flat = retentionInterval(toColumns(many(80, 1)));
    expect(flat).toEqual({ low: 1, high: 1 });
  });
  it("does not depend on the order of arms or the id of sequences, but on their counts", () => {
    const rows = many(100, (i) => (i % 3) / 3);
    const renamed = rows.map((row) => ({ ...row, id: `x${row.id}` }));
    expect(assess(input(renamed)).retention).toEqual(assess(input(rows)).retention);
  });
});

it("refuses counts that cannot be", () => {
  expect(() => assess(input([sequence(0, 1, { first: { agree: 4, total: 3 } })]))).toThrow(/agreements/);
});
