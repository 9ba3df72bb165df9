import {
  JUDGE_VERSION,
  JudgeFeature,
  type JudgeLabel,
  type JudgeRow,
  type JudgeTable,
} from "@helm/contracts";
import { CountableTokens } from "../countable-tokens";
import type { AnswerEvidence } from "../evidence";
import { drawCurve, rankingQuality } from "./curve";
import { type Features, readFeatures } from "./features";
import { calibrate, fitIsotonic } from "./isotonic";
import { fitLogistic, type Logistic, logOdds } from "./logistic";

export interface FitRequest {
  streaming: "buffer" | "window";
  window: number | null;
  label: JudgeLabel;
}

export type Fitted = Omit<JudgeTable, "v" | "type" | "pair" | "weights" | "origin" | "fitted_at">;

export type FitOutcome = { ok: true; table: Fitted } | { ok: false; message: string };

const FOLDS = 5;
const FEWEST_OF_A_KIND = 20;

/**
 * Logistic regression, then isotonic. What the table says of itself (curve, area, Brier) is measured on answers held out
 * by fold, requests of one group together; the steps are fitted on held-out scores, the weights on everything.
 */
export function fitTable(rows: readonly JudgeRow[], asked: FitRequest): FitOutcome {
  // Sums round by their order: the same answers give the same table in whatever order they come.
  const ordered = [...rows].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const seen = ordered.flatMap((row) => {
    const features = readFeatures(evidenceOf(row, asked.window));
    const label = labelOf(row, asked.label);
    return features === null || label === null ? [] : [{ features, label, fold: foldOf(row.group), row }];
  });
  const positives = seen.filter(({ label }) => label).length;
  const short = tooFew(seen.length, positives, asked.label);
  if (short !== null) return { ok: false, message: short };
  const names = usable(seen.map(({ features }) => features));
  const data = seen.map(({ features, ...rest }) => ({
    ...rest,
    x: names.map((name) => features[name] ?? 0),
  }));
  const scores = Array.from({ length: data.length }, () => 0);
  const probabilities = Array.from({ length: data.length }, () => 0);
  for (let fold = 0; fold < FOLDS; fold++) {
    const others = data.filter((one) => one.fold !== fold);
    const model = fitOn(others);
    const steps = fitIsotonic(
      others.map(({ x }) => logOdds(model, x)),
      others.map(({ label }) => label),
    );
    data.forEach((one, i) => {
      if (one.fold !== fold) return;
      scores[i] = logOdds(model, one.x);
      probabilities[i] = calibrate(steps, scores[i] ?? 0);
    });
  }
  const labels = data.map(({ label }) => label);
  const requests = new Set(data.map(({ row }) => row.group)).size;
  const whole = fitOn(data);
  const knots = fitIsotonic(scores, labels);
  const squared = probabilities.map((p, i) => (p - Number(labels[i])) ** 2);
  // The quality at a rate follows from the order of the held-out scores alone, which the steps leave as it is; only so do
  // thresholds stand on the scale on which a node will score.
  const served = scores.map((score) => calibrate(knots, score));
  return {
    ok: true,
    table: {
      version: JUDGE_VERSION,
      ...asked,
      features: names.map((name, j) => ({
        name,
        mean: whole.means[j] ?? 0,
        scale: whole.scales[j] ?? 1,
        weight: whole.weights[j] ?? 0,
      })),
      bias: whole.bias,
      knots,
      n: data.length,
      requests,
      positives,
      held_out: { folds: FOLDS, auc: rankingQuality(scores, labels), brier: mean(squared) },
      device_ms: meanDeviceTime(data.map(({ row }) => row)),
      curve: drawCurve(served, labels, requests),
    },
  };
}

/** As much of a labelled answer as a judge of this window sees. */
export function evidenceOf(row: JudgeRow, window: number | null): AnswerEvidence {
  const countable = new CountableTokens();
  const tokens = row.tokens
    .map((text, i) => ({
      text,
      logprob: row.logprobs[i] ?? null,
      margin: row.margins?.[i] ?? null,
      part: "answer" as const,
    }))
    .filter((token) => countable.counts(token));
  const cut = window !== null && tokens.length > window;
  return {
    tokens: cut ? tokens.slice(0, window) : tokens,
    finish: cut ? null : row.finish,
    wantsJson: false,
  };
}

/** Null where the row cannot tell: only a verifier knows which answer is better. */
export function labelOf(row: JudgeRow, label: JudgeLabel): boolean | null {
  if (label === "target_differs") return row.differs;
  return row.quality ? row.quality.target > row.quality.pilot : null;
}

function tooFew(n: number, positives: number, label: JudgeLabel): string | null {
  if (n === 0)
    return label === "target_better"
      ? "No answer was verified, so nobody knows which is better: fit the label target_differs, or give rows with quality."
      : "No answer has log-probabilities that can be read.";
  const fewest = Math.min(positives, n - positives);
  if (fewest >= FEWEST_OF_A_KIND) return null;
  return `${n} labelled answers, ${positives} of them with the label: a judge needs ${FEWEST_OF_A_KIND} of either kind. Give more, and such as differ in difficulty.`;
}

/** Features that every answer has and that are not the same for all. */
function usable(all: readonly Features[]): JudgeFeature[] {
  return JudgeFeature.options.filter((name) => {
    const first = all[0]?.[name];
    return (
      first !== undefined &&
      all.every((one) => one[name] !== undefined) &&
      all.some((one) => one[name] !== first)
    );
  });
}

function fitOn(data: readonly { x: number[]; label: boolean }[]): Logistic {
  return fitLogistic(
    data.map(({ x }) => x),
    data.map(({ label }) => label),
  );
}

/** By the group's name alone (FNV-1a): a group is never split, and stays in its fold when others come. */
function foldOf(group: string): number {
  let hash = 0x811c9dc5;
  for (const char of group) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash % FOLDS;
}

function meanDeviceTime(rows: readonly JudgeRow[]): JudgeTable["device_ms"] {
  const timed = rows.flatMap(({ device_ms }) => (device_ms ? [device_ms] : []));
  if (timed.length < rows.length) return null;
  return { pilot: mean(timed.map(({ pilot }) => pilot)), target: mean(timed.map(({ target }) => target)) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
