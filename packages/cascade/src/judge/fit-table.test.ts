import { JudgeTable } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labelledAnswers, mulberry } from "../testing";
import { chooseThreshold } from "./choose-threshold";
import { drawCurve, rankingQuality } from "./curve";
import { evidenceOf, type FitRequest, type Fitted, fitTable } from "./fit-table";
import { scoreAnswer } from "./score-answer";

const WHOLE: FitRequest = { streaming: "buffer", window: null, label: "target_differs" };

function fit(rows = labelledAnswers(600, 3), asked = WHOLE): Fitted {
  const found = fitTable(rows, asked);
  if (!found.ok) throw new Error(found.message);
  return found.table;
}

describe("fitting a table", () => {
  it("ranks answers it has not seen, with probabilities that come true", () => {
    const table = fit();
    expect(table.held_out.auc).toBeGreaterThan(0.75);
    const fresh = labelledAnswers(4_000, 3, 99);
    const scores = fresh.map((row) => scoreAnswer(table, evidenceOf(row, null)) ?? Number.NaN);
    expect(
      rankingQuality(
        scores,
        fresh.map(({ differs }) => differs),
      ),
    ).toBeGreaterThan(0.75);
    const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    expect(mean(scores)).toBeCloseTo(mean(fresh.map(({ differs }) => Number(differs))), 1);
  });

  it("says of answers that tell nothing that it ranks by chance", () => {
    const { auc } = fit(labelledAnswers(600, 0)).held_out;
    expect(auc).toBeGreaterThan(0.4);
    expect(auc).toBeLessThan(0.6);
  });

  it("gives the same table for the same answers in any order", () => {
    const rows = labelledAnswers(300, 3);
    const random = mulberry(5);
    const shuffled = rows
      .map((row) => ({ row, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ row }) => row);
    expect(fit(shuffled)).toEqual(fit(rows));
  });

  it("reads a window only as far as it goes, and the lead only where every answer has it", () => {
    const rows = labelledAnswers(400, 3);
    const windowed = fit(rows, { streaming: "window", window: 4, label: "target_better" });
    expect(windowed).toMatchObject({ streaming: "window", window: 4, label: "target_better" });
    const beyond = rows.map((row) => ({
      ...row,
      logprobs: row.logprobs.map((p, i) => (i < 4 ? p : -50)),
    }));
    expect(fit(beyond, { streaming: "window", window: 4, label: "target_better" })).toEqual(windowed);
    const names = (table: Fitted) => table.features.map(({ name }) => name);
    expect(names(windowed)).toContain("min_margin");
    const silent = rows.map((row, i) => (i === 7 ? { ...row, margins: null } : row));
    expect(names(fit(silent)).filter((name) => name.includes("margin"))).toEqual([]);
  });

  it("counts independent requests, not answers, for its intervals", () => {
    const rows = labelledAnswers(400, 3).map((row, i) => ({ ...row, group: `group-${i % 100}` }));
    const table = fit(rows);
    expect([table.n, table.requests]).toEqual([400, 100]);
    const alone = fit(labelledAnswers(400, 3));
    const width = ({ curve }: Fitted) => (curve[20]?.high ?? 0) - (curve[20]?.low ?? 0);
    expect(width(table)).toBeGreaterThan(1.5 * width(alone));
  });

  it("refuses what cannot be learned from, and says what is missing", () => {
    const same = labelledAnswers(100, 3).map((row) => ({ ...row, differs: false }));
    expect(fitTable(same, WHOLE)).toMatchObject({ ok: false, message: expect.stringMatching(/0 of them/) });
    const unverified = labelledAnswers(100, 3).map((row) => ({ ...row, quality: null }));
    expect(fitTable(unverified, { ...WHOLE, label: "target_better" })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/verified/),
    });
    expect(fitTable([], WHOLE).ok).toBe(false);
  });

  it("is what the contract takes", () => {
    const table = {
      v: 1,
      type: "judge_table",
      pair: { source: "pilot", target: "target" },
      weights: { source: null, target: null },
      origin: { kind: "file", name: "x" },
      fitted_at: "2026-11-30T12:00:00.000Z",
      ...fit(),
    };
    expect(JudgeTable.safeParse(table).error).toBeUndefined();
    expect(JudgeTable.safeParse({ ...table, window: 5 }).success).toBe(false);
  });
});

describe("the curve and its thresholds", () => {
  const judged = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), {
    minLength: 1,
    maxLength: 200,
  });

  it("rises in quality as more is escalated, from the pilot alone to the target alone", () => {
    fc.assert(
      fc.property(judged, (rows) => {
        const labels = rows.map(([, label]) => label);
        const curve = drawCurve(
          rows.map(([p]) => p),
          labels,
          rows.length,
        );
        expect(curve[0]!.quality).toBeCloseTo(1 - labels.filter(Boolean).length / labels.length, 12);
        expect(curve.at(-1)!.quality).toBe(1);
        curve.forEach((point, i) => {
          expect(point.quality).toBeGreaterThanOrEqual((curve[i - 1]?.quality ?? 0) - 1e-12);
          expect(point.threshold).toBeLessThanOrEqual(curve[i - 1]?.threshold ?? 2);
          expect(point.low).toBeLessThanOrEqual(point.quality + 1e-12);
          expect(point.high).toBeGreaterThanOrEqual(point.quality - 1e-12);
        });
      }),
    );
  });

  it("chooses by rate what escalates that share, and by floor the least that keeps it with its interval", () => {
    const table = fit();
    const rate = chooseThreshold(table, { escalation_rate: 0.3 });
    if (!rate.ok) throw new Error("a rate can always be had");
    const fresh = labelledAnswers(4_000, 3, 5);
    const escalated = fresh.filter(
      (row) => (scoreAnswer(table, evidenceOf(row, null)) ?? 0) >= rate.threshold.threshold,
    );
    expect(escalated.length / fresh.length).toBeCloseTo(0.3, 1);
    expect(rate.threshold).toMatchObject({ rate: 0.3, requests: 600, guaranteed: true });
    const floor = chooseThreshold(table, { quality_floor: 0.85 });
    if (!floor.ok) throw new Error("this floor can be had");
    expect(floor.threshold.low).toBeGreaterThanOrEqual(0.85);
    const before = table.curve[Math.round(100 * floor.threshold.rate) - 1];
    expect(before?.low).toBeLessThan(0.85);
  });

  it("guarantees nothing below 500 labelled requests, and no floor that they cannot show", () => {
    const table = fit(labelledAnswers(300, 3));
    const rate = chooseThreshold(table, { escalation_rate: 0.2 });
    expect(rate).toMatchObject({
      ok: true,
      threshold: { guaranteed: false, sentence: expect.stringMatching(/Nothing is guaranteed: 300/) },
    });
    expect(chooseThreshold(table, { quality_floor: 0.999 })).toMatchObject({ ok: false });
  });
});
