import type { SequenceCounts } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AssessmentInput, assess } from "./assess";
import { input, many, sequence } from "./fixtures";

describe("retention", () => {
  it("pools positions within a bucket and then takes the mean of the three", () => {
    const rows = many(100, 1).map((row, i) => ({
      ...row,
      prefixes: [64, 96, 128, 256],
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
    const report = many(50, 0.6, { split: "report" }).map((row) => ({ ...row, id: `r${row.id}` }));
    const long = many(20, 0, { split: "long", multiple: 4 });
    const result = assess(input([...many(100, 1), ...report, ...long]));
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

  const cut = fc.integer({ min: 0, max: 10 }).map((agree) => agree / 10);
  const shares = fc.array(cut, { minLength: 100, maxLength: 100 });
  it("never lets more through as it rises, and never hears the report or the long rows", () => {
    fc.assert(
      fc.property(shares, fc.double({ min: 0.01, max: 1, noNaN: true }), shares, (given, gate, other) => {
        const own = many(100, (i) => given[i] ?? 0);
        const base = assess(input(own, { gate }));
        if (base.verdict === "BELOW_GATE") {
          const higher = (gate + 1) / 2;
          expect(assess(input(own, { gate: higher })).verdict).toBe("BELOW_GATE");
        }
        const report = many(100, (i) => other[i] ?? 0, { split: "report" }).map((row) => ({
          ...row,
          id: `r${row.id}`,
        }));
        const long = many(16, (i) => other[i] ?? 0, { split: "long", multiple: 32 });
        const more = assess(input([...own, ...report, ...long], { gate }));
        expect(more.verdict).toBe(base.verdict);
        expect(more.retention).toEqual(base.retention);
        expect(more.arms).toEqual(base.arms);
      }),
      { numRuns: 6 },
    );
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
  });
  it("never reads a missed bound as reached", () => {
    // (1 + 4486 / 4500 + 1) / 3 = 0.99896, which rounds to 0.9990.
    const rows = many(100, 1).map((row, i) => (i > 0 ? row : { ...row, early: { agree: 31, total: 45 } }));
    const given = input(many(100, 1));
    const { failure } = assess({ ...given, counts: { ...given.counts, identity: rows } });
    expect(failure?.message).toContain("reached 0.9989 and must reach 0.999");
  });
  it("holds self-map to 0.98; a control's mapper is its self-map", () => {
    expect(code({ self_map: many(100, 0.9) })).toBe("SELF_MAP_MISSED");
    expect(code({ self_map: undefined }, { control: true })).toBe(null);
    const { mapper } = input(many(100, 0.9)).counts;
    expect(code({ mapper, self_map: undefined }, { control: true })).toBe("SELF_MAP_MISSED");
  });
  it("blames a pre-norm fit, and not the machinery, for its self-map alone", () => {
    const said = (method: string, arm: "self_map" | "identity") => {
      const given = input(many(100, 1), { method });
      return assess({ ...given, counts: { ...given.counts, [arm]: many(100, 0.9) } }).failure?.message;
    };
    expect(said("prenorm-attention", "self_map")).toMatch(/fitted and not exact.*use another --method/);
    expect(said("prenorm", "identity")).toMatch(/the machinery is at fault/);
    expect(said("renorm", "self_map")).toMatch(/the machinery is at fault/);
  });
  it("refuses probes that are too short or blind", () => {
    const short = assess(input(many(60, 1)));
    expect(short.failure?.code).toBe("PROBES_TOO_SHORT");
    const few = assess(input(many(99, 1)));
    expect(few.failure).toMatchObject({
      code: "PROBES_TOO_SHORT",
      message: expect.stringMatching(/99 sequences .+ needs 100\. Use a corpus with more texts/),
    });
    expect(few.verdict).toBeNull();
    expect(code({ other_sequence: many(100, 0.8) })).toBe("PROBES_BLIND");
    expect(code({ zero_cache: many(100, 0.8) })).toBe("PROBES_BLIND");
  });
  it("shows the mapper as its own plain ridge where that was fitted", () => {
    const given = input(many(100, 0.95), { method: "ridge" });
    const result = assess({ ...given, counts: { ...given.counts, plain_ridge: undefined } });
    expect(result.arms.plain_ridge?.retention).toBe(result.retention.value);
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
  const warnings = (extra: Partial<SequenceCounts>, share = 1) =>
    assess(input(many(100, share, extra))).warnings;
  it("warns where rescue or gold are not above zero, by the right name", () => {
    expect(warnings({})).toEqual([]);
    expect(warnings({}, 0.6)).toEqual(["NOT_ABOVE_PILOT"]);
    expect(warnings({ gold_gain: -1, native_gold_gain: 2 })).toEqual(["NOT_ABOVE_PILOT"]);
    expect(warnings({ gold_gain: -1, native_gold_gain: -1 })).toEqual(["TARGET_NOT_BETTER"]);
    expect(warnings({ recovered: null, lost: null })).toEqual(["NOT_ABOVE_PILOT"]);
  });
  it("is not passed by a run without gold, or with the gold of a few chosen texts", () => {
    expect(warnings({ gold_gain: null, native_gold_gain: null })).toEqual(["NOT_ABOVE_PILOT"]);
    const few = many(100, 1).map((row, i) => (i < 99 ? row : { ...row, gold_gain: null }));
    expect(assess(input(few)).warnings).toEqual(["NOT_ABOVE_PILOT"]);
  });
  it("never applies to a control", () => {
    const result = assess(input(many(100, 1, { gold_gain: -1 }), { control: true }));
    expect(result.warnings).toEqual([]);
    expect(result.net_rescue).toBeNull();
  });
});

describe("the diagnosis", () => {
  const below = many(100, 0.5);
  const code = (kvCosine: { k: number; v: number }, changes: Partial<AssessmentInput> = {}) =>
    assess(input(below, { kvCosine, ...changes })).diagnosis?.code ?? null;
  it("says below the gate whether refitting may help, from the mean cosine", () => {
    expect(code({ k: 0.9, v: 0.5 })).toBe("MAP_WRONG");
    expect(code({ k: 0.99, v: 0.97 })).toBe("TARGET_SENSITIVE");
    expect(code({ k: 0.93, v: 0.87 })).toBe(null);
  });
  it("makes no diagnosis of what clears the default gate and misses a stricter one, and says that", () => {
    const rows = many(100, 0.97);
    const strict = assess(input(rows, { gate: 0.99, kvCosine: { k: 0.99, v: 0.97 } }));
    expect(strict).toMatchObject({ verdict: "BELOW_GATE", diagnosis: null });
    const said = strict.advice?.find((step) => step.code === "STRICTER_GATE")?.message;
    expect(said).toMatch(/clears the default gate of 0\.90 and not the stricter one of 0\.99/);
    expect(said).not.toMatch(/sensitive/);
    const wrong = assess(input(below, { gate: 0.99, kvCosine: { k: 0.99, v: 0.97 } }));
    expect(wrong.diagnosis?.code).toBe("TARGET_SENSITIVE");
    expect(wrong.advice?.map((step) => step.code)).not.toContain("STRICTER_GATE");
  });
  it("takes the thresholds that the manifest names", () => {
    const thresholds = { map_wrong_below: 0.99, sensitive_above: 0.995 };
    expect(code({ k: 0.98, v: 0.98 }, { thresholds })).toBe("MAP_WRONG");
  });
  it("is silent above the gate, without a cosine and where a control failed", () => {
    expect(assess(input(many(100, 1), { kvCosine: { k: 0.5, v: 0.5 } })).diagnosis).toBeNull();
    expect(assess(input(below)).diagnosis).toBeNull();
    const failed = input(many(60, 0.5), { kvCosine: { k: 0.5, v: 0.5 } });
    expect(assess(failed).diagnosis).toBeNull();
  });
});

describe("the advice", () => {
  const codes = (changes: Partial<SequenceCounts>, share: number, more: Partial<AssessmentInput> = {}) =>
    assess(input(many(100, share, changes), more)).advice?.map(({ code }) => code);
  it("says what to do after each warning and below the gate, and nothing where nothing is to be done", () => {
    expect(codes({}, 1)).toEqual([]);
    expect(codes({ gold_gain: -1 }, 1)).toEqual(["NOT_ABOVE_PILOT"]);
    expect(codes({}, 0.8)).toEqual(["BELOW_GATE"]);
    expect(codes({}, 0.5, { kvCosine: { k: 0.5, v: 0.5 } })).toEqual(["NOT_ABOVE_PILOT", "MAP_WRONG"]);
  });
});

describe("the sentence", () => {
  const rows = many(100, (i) => (i % 10 === 0 ? 0.3 : 1));
  it("gives value, interval, sequences and what was compared", () => {
    const { retention, sentence } = assess(input(rows, { gate: 0.8 }));
    expect(sentence).toContain(`Cleared: retention ${retention.value.toFixed(3)} (95 % interval`);
    expect(sentence).toContain(`the lower bound ${retention.low.toFixed(3)} reaches the gate of 0.80`);
    expect(sentence).toContain("100 sequences");
    expect(sentence).toContain(`about ${Math.floor(100 * retention.value)} of 100 positions`);
  });
  it("never rounds onto the gate's other side", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.boolean(), (tenThousandths, above) => {
        const { retention } = assess(input(rows));
        const gate = retention.value + (above ? -1 : 1) * tenThousandths * 1e-6;
        const { verdict, sentence } = assess(input(rows, { gate, gateOn: "point" }));
        const shown = Number(/the value ([0-9.]+)/.exec(sentence)?.[1]);
        expect(shown >= gate).toBe(verdict === "CLEARED");
      }),
      { numRuns: 10 },
    );
  });
  it("claims every position only where every position agreed", () => {
    expect(assess(input(many(100, 1))).sentence).toContain("At every counted position");
    const almost = [...many(99, 1), sequence(99, 0.99)];
    expect(assess(input(almost)).sentence).toContain("about 99 of 100");
  });
});
