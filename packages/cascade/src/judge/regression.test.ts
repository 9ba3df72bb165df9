import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mulberry } from "../testing";
import { calibrate, fitIsotonic } from "./isotonic";
import { fitLogistic, logOdds, sigmoid } from "./logistic";
import { wilson } from "./wilson";

const value = fc.double({ min: -5, max: 5, noNaN: true });
const data = fc.array(fc.tuple(fc.tuple(value, value), fc.boolean()), { minLength: 4, maxLength: 60 });

describe("logistic regression", () => {
  it("ends where the penalised likelihood is flat, whatever the data", () => {
    fc.assert(
      fc.property(data, (rows) => {
        const [x, y] = [rows.map(([row]) => row), rows.map(([, label]) => label)];
        const model = fitLogistic(x, y);
        const residuals = x.map((row, i) => Number(y[i]) - sigmoid(logOdds(model, row)));
        const sum = (of: (i: number) => number) => residuals.reduce((total, r, i) => total + r * of(i), 0);
        const one = y.every((label) => label === y[0]);
        if (!one) expect(Math.abs(sum(() => 1))).toBeLessThan(1e-4);
        for (const j of [0, 1] as const) {
          const standardised = (i: number) => ((x[i]?.[j] ?? 0) - model.means[j]!) / model.scales[j]!;
          if (!one) expect(Math.abs(sum(standardised) - model.weights[j]!)).toBeLessThan(1e-4);
        }
      }),
    );
  });

  it("finds the weights that made the labels", () => {
    const random = mulberry(7);
    const x = Array.from({ length: 20_000 }, () => [random() * 4 - 2, random() * 2]);
    const y = x.map(([a = 0, b = 0]) => random() < sigmoid(1.5 * a - 2 * b + 0.5));
    const model = fitLogistic(x, y);
    const raw = model.weights.map((weight, j) => weight / model.scales[j]!);
    expect(raw[0]).toBeCloseTo(1.5, 1);
    expect(raw[1]).toBeCloseTo(-2, 1);
    expect(logOdds(model, [0, 0])).toBeCloseTo(0.5, 1);
  });

  it("stays finite where the data can be parted, and gives a feature that never varies no weight", () => {
    const model = fitLogistic(
      Array.from({ length: 40 }, (_, i) => [i < 20 ? -1 : 1, 3]),
      Array.from({ length: 40 }, (_, i) => i >= 20),
    );
    expect(Number.isFinite(model.bias)).toBe(true);
    expect(model.weights[0]).toBeGreaterThan(1);
    expect(model.weights[1]).toBeCloseTo(0, 9);
  });
});

describe("isotonic calibration", () => {
  const scored = fc.array(fc.tuple(fc.double({ min: -9, max: 9, noNaN: true }), fc.boolean()), {
    minLength: 1,
    maxLength: 80,
  });

  it("never falls, stays within what was seen, and keeps the share of positives", () => {
    fc.assert(
      fc.property(scored, (rows) => {
        const [scores, labels] = [rows.map(([s]) => s), rows.map(([, l]) => l)];
        const knots = fitIsotonic(scores, labels);
        for (const [i, knot] of knots.entries()) {
          expect(knot.probability).toBeGreaterThanOrEqual(knots[i - 1]?.probability ?? 0);
          if (i > 0) expect(knot.score).toBeGreaterThan(knots[i - 1]!.score);
        }
        const share = labels.filter(Boolean).length / labels.length;
        expect(knots[0]!.probability).toBeLessThanOrEqual(share + 1e-12);
        expect(knots.at(-1)!.probability).toBeGreaterThanOrEqual(share - 1e-12);
      }),
    );
  });

  it("is the least-squares fit among all non-decreasing ones", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), (labels) => {
        const knots = fitIsotonic(
          labels.map((_, i) => i),
          labels,
        );
        // Min-max: the value at i is the largest over a <= i of the least mean over b >= i of labels[a..b].
        const mean = (a: number, b: number) => labels.slice(a, b + 1).filter(Boolean).length / (b + 1 - a);
        labels.forEach((_, i) => {
          const spans = Array.from({ length: i + 1 }, (_, a) =>
            Math.min(...Array.from({ length: labels.length - i }, (_, k) => mean(a, i + k))),
          );
          const wanted = Math.max(...spans);
          expect(knots.some(({ probability }) => Math.abs(probability - wanted) < 1e-12)).toBe(true);
        });
      }),
    );
  });

  it("gives a probability that rises with every score", () => {
    fc.assert(
      fc.property(scored, value, fc.double({ min: 1e-3, max: 3, noNaN: true }), (rows, at, step) => {
        const knots = fitIsotonic(
          rows.map(([s]) => s),
          rows.map(([, l]) => l),
        );
        expect(calibrate(knots, at + step)).toBeGreaterThan(calibrate(knots, at));
        expect(calibrate(knots, at)).toBeGreaterThanOrEqual(0);
        expect(calibrate(knots, at)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

it("Wilson's interval holds the share and has the published ends", () => {
  expect(wilson(0.5, 100).low).toBeCloseTo(0.4038, 4);
  expect(wilson(0.5, 100).high).toBeCloseTo(0.5962, 4);
  expect(wilson(1, 10).low).toBeCloseTo(0.7225, 4);
  expect(wilson(0, 10).high).toBeCloseTo(0.2775, 4);
});
