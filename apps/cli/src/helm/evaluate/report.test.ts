import type { Evaluation, EvaluationTask } from "@helm/contracts";
import { expect, it } from "vitest";
import { Screen } from "../../terminal/screen";
import { evaluationLines } from "./report";

const task: EvaluationTask = {
  task: "helm_bundled",
  metric: "exact_match",
  higher_is_better: true,
  n: 497,
  pilot: 0.73,
  target: 0.895,
  transferred: 0.755,
  accuracy_retention: { value: 0.843, low: 0.806, high: 0.877 },
};

const evaluation: Evaluation = {
  v: 1,
  type: "evaluation",
  at: "2026-11-30T10:00:00.000Z",
  pair: { source: "pilot", target: "target" },
  weights: { source: "a".repeat(64), target: "b".repeat(64) },
  mapper_sha256: "c".repeat(64),
  tasks: [
    task,
    {
      ...task,
      task: "helm_bundled_add",
      group: "helm_bundled",
      accuracy_retention: null,
      left_out: "too few",
    },
    { ...task, task: "wikitext", metric: "word_perplexity", higher_is_better: false, target: 12.3456 },
  ],
  mean: { value: 0.843, low: 0.806, high: 0.877, tasks: 1 },
  warnings: [{ code: "ACCURACY_BELOW_PILOT", task: "helm_bundled", message: "worse than the pilot" }],
  limit: 20,
  device: "cpu",
  development: true,
  versions: {},
};

it("names accuracy retention, its interval, what is left out, and marks what is development", () => {
  const lines = evaluationLines(new Screen(false, false), evaluation);
  const text = lines.join("\n");
  expect(text).toContain("development");
  expect(text).toContain("first 20 documents");
  expect(text).toMatch(/helm_bundled +exact_match +497 +0.730 +0.895 +0.755 +0.843 +0.806 - 0.877/);
  expect(text).toMatch(/helm_bundled_add .* - +- +too few/);
  expect(text).toMatch(/wikitext .* 12.35 /);
  expect(text).toContain("mean accuracy retention 0.843, 0.806 - 0.877, of 1 task");
  expect(text).toContain("ACCURACY_BELOW_PILOT worse than the pilot");
});

it("never calls it retention alone", () => {
  const text = evaluationLines(new Screen(false, false), evaluation).join("\n");
  expect(text.match(/retention/g)?.length).toBe(text.match(/accuracy retention/g)?.length);
});
