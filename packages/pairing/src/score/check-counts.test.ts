import { ArmName, HelmError, type SequenceCounts } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AssessmentInput, assess } from "./assess";
import { requiredArms } from "./check-counts";
import { input, many } from "./fixtures";

/** Why a run with these changes to its counts has no verdict; null where it has one. */
function refusal(
  change: (counts: AssessmentInput["counts"]) => AssessmentInput["counts"],
  more: Partial<AssessmentInput> = {},
): unknown {
  const given = input(many(100, 1), more);
  try {
    assess({ ...given, counts: change(given.counts) });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(HelmError);
    const { code, details, userMessage } = error as HelmError;
    expect(code).toBe("COUNTS_REFUSED");
    expect(userMessage).toMatch(/^The counts of this run cannot be judged: .+calibrate again\.$/);
    return details.reason;
  }
}

/** The first row of one arm changed. */
const first =
  (arm: ArmName, changes: Partial<SequenceCounts>) =>
  (counts: AssessmentInput["counts"]): AssessmentInput["counts"] => ({
    ...counts,
    [arm]: (counts[arm] ?? []).map((row, i) => (i === 0 ? { ...row, ...changes } : row)),
  });

describe("a verdict is not possible", () => {
  it.each(requiredArms({ control: false, method: "renorm" }))("without the arm %s", (arm) => {
    expect(refusal((counts) => ({ ...counts, [arm]: undefined }))).toBe("ARM_MISSING");
    expect(refusal((counts) => ({ ...counts, [arm]: [] }))).toBe("ARM_MISSING");
  });
  it("without a report split, beside which a gate looked at too often would be seen", () => {
    const gateAlone = (counts: AssessmentInput["counts"]) => ({
      ...counts,
      mapper: counts.mapper?.filter((row) => row.split === "gate"),
    });
    expect(refusal(gateAlone)).toBe("ARM_MISSING");
    expect(refusal(gateAlone, { control: true })).toBe("ARM_MISSING");
  });
  it("but needs every arm there is, less what a control or a plain ridge is itself", () => {
    expect([...requiredArms({ control: false, method: "renorm" })].sort()).toEqual(
      [...ArmName.options].sort(),
    );
    const without = (arm: ArmName) => (counts: AssessmentInput["counts"]) => ({
      ...counts,
      [arm]: undefined,
    });
    expect(refusal(without("self_map"), { control: true })).toBe(null);
    expect(refusal(without("pilot_alone"), { control: true })).toBe(null);
    expect(refusal(without("plain_ridge"), { method: "ridge" })).toBe(null);
  });
  it.each(ArmName.options)("with a sequence counted twice in the arm %s", (arm) => {
    const reason = refusal((counts) => {
      const rows = counts[arm] ?? [];
      return { ...counts, [arm]: [...rows, ...rows.slice(3, 4)] };
    });
    expect(reason).toBe("SEQUENCE_REPEATED");
  });
  it("over different sequences or positions", () => {
    expect(refusal((counts) => ({ ...counts, identity: counts.identity?.slice(1) }))).toBe(
      "SEQUENCES_DIFFER",
    );
    expect(refusal(first("zero_cache", { id: "stranger" }))).toBe("SEQUENCES_DIFFER");
    expect(refusal(first("pilot_alone", { late: { agree: 0, total: 7 } }))).toBe("SEQUENCES_DIFFER");
  });
  it("where a gate sequence is in the report as well", () => {
    const reason = refusal((counts) => ({
      ...counts,
      mapper: [...(counts.mapper ?? []), ...many(1, 1, { split: "report" })],
    }));
    expect(reason).toBe("SPLITS_OVERLAP");
  });
  it("where one text stands under two names, in the gate or in gate and report", () => {
    const named = (rows: SequenceCounts[], same: string) =>
      rows.map((row) => ({ ...row, digest: row.id === same ? "twin" : row.id }));
    const reported = (digest: string) => (counts: AssessmentInput["counts"]) => ({
      ...counts,
      mapper: [
        ...named(counts.mapper ?? [], "s0"),
        ...many(1, 1, { split: "report", digest }).map((row) => ({ ...row, id: "r0" })),
      ],
    });
    expect(refusal(reported("twin"))).toBe("SPLITS_OVERLAP");
    expect(refusal(reported("another"))).toBe(null);
    const twice = (counts: AssessmentInput["counts"]) => ({
      ...counts,
      mapper: counts.mapper?.map((row, i) => ({ ...row, digest: i < 2 ? "twin" : row.id })),
    });
    expect(refusal(twice)).toBe("SEQUENCE_REPEATED");
  });
  it("from counts that cannot be", () => {
    const odd: Partial<SequenceCounts>[] = [
      { first: { agree: 4, total: 3 } },
      { first: { agree: Number.NaN, total: 3 } },
      { late: { agree: -1, total: 144 } },
      { late: { agree: 1.5, total: 144 } },
      { early: { agree: 0, total: Number.POSITIVE_INFINITY } },
      { recovered: -1 },
      { gold_gain: Number.NaN },
      { kl_sum: -0.1 },
      { prefixes: [0] },
      { split: "long" },
      { multiple: 4 },
      {
        points: [
          {
            prefix: 64,
            first: { agree: 3, total: 3 },
            early: { agree: 45, total: 45 },
            late: { agree: 9, total: 9 },
          },
        ],
      },
      {
        points: [64, 128, 256, 512].map((prefix, i) => ({
          prefix,
          first: { agree: i && 1, total: i && 1 },
          early: { agree: i && 15, total: i && 15 },
          late: { agree: i && 48, total: i && 48 },
        })),
      },
      { prefixes: [] },
      { prefixes: [64, 128, 192, 256, 320] },
      { prefixes: [64, 128] },
      { early: { agree: 45, total: 46 } },
      { late: { agree: 144, total: 145 } },
    ];
    for (const changes of odd) expect(refusal(first("mapper", changes))).toBe("COUNT_IMPOSSIBLE");
  });
  it("from more sequences or domains than a verdict can wait for", () => {
    for (const arm of ArmName.options)
      expect(refusal((counts) => ({ ...counts, [arm]: many(10_001, 1) }))).toBe("TOO_MANY");
    const spread = (domains: number) => (counts: AssessmentInput["counts"]) => ({
      ...counts,
      mapper: counts.mapper?.map((row, i) => ({ ...row, domain: `d${i % domains}` })),
    });
    expect(refusal(spread(32))).toBe(null);
    expect(refusal(spread(33))).toBe("TOO_MANY");
  });
  it("from one text that counts more positions than its hand-over points have", () => {
    const whole = { agree: 200, total: 200 };
    const one = many(1, 1, { prefixes: [64], first: whole, early: whole, late: whole });
    expect(() => assess(input(one))).toThrow(/counts 200 positions where at most 1 can be/);
    const crowded = { prefix: 64, first: { agree: 3, total: 3 }, early: { agree: 45, total: 45 } };
    const points = [{ ...crowded, late: { agree: 144, total: 144 } }];
    expect(refusal(first("mapper", { points }))).toBe("COUNT_IMPOSSIBLE");
  });
  it("where recovered less lost is not the mapper's agreement less the pilot's, or is told of some alone", () => {
    const pilot = input(many(100, 1)).counts.pilot_alone?.[0];
    if (!pilot) throw new Error("no pilot");
    const net = 192 - (pilot.first.agree + pilot.early.agree + pilot.late.agree);
    const told = (recovered: number | null, lost: number | null) =>
      refusal(first("mapper", { recovered, lost }));
    expect(told(net, 0)).toBe(null);
    expect(told(net + 1, 1)).toBe(null);
    expect(told(net + 1, 0)).toBe("COUNT_IMPOSSIBLE");
    expect(told(0, 0)).toBe("COUNT_IMPOSSIBLE");
    expect(told(192, 192 - net + 1)).toBe("COUNT_IMPOSSIBLE");
    expect(told(193, 193 - net)).toBe("COUNT_IMPOSSIBLE");
    expect(told(null, null)).toBe("COUNT_IMPOSSIBLE");
    expect(told(net, null)).toBe("COUNT_IMPOSSIBLE");
  });
  it("whatever number of whatever arm is spoilt", () => {
    const spoilt = fc.constantFrom(Number.NaN, -1, 0.5, Number.NEGATIVE_INFINITY);
    const bucket = fc.constantFrom("first" as const, "early" as const, "late" as const);
    const part = fc.constantFrom("agree" as const, "total" as const);
    fc.assert(
      fc.property(fc.constantFrom(...ArmName.options), bucket, part, spoilt, (arm, name, side, value) => {
        const row = input(many(100, 1)).counts[arm]?.[0];
        if (!row) throw new Error("no row");
        expect(refusal(first(arm, { [name]: { ...row[name], [side]: value } }))).toBe("COUNT_IMPOSSIBLE");
      }),
      { numRuns: 30 },
    );
  });
});
