import type { Evaluation } from "@helm/contracts";
import { BUNDLED } from "./worker";

/** What the evaluation verb prints for a pair of the tests' models. */
export function evaluation(mapperSha256: string, changes: Partial<Evaluation> = {}): Evaluation {
  const share = { value: 0.88 / 0.9, low: 0.95, high: 1.01 };
  const row = { metric: "exact_match", higher_is_better: true, pilot: 0.73, target: 0.9, transferred: 0.88 };
  return {
    v: 1,
    type: "evaluation",
    at: "2026-11-30T10:00:00.000Z",
    pair: { source: "pilot", target: "target" },
    weights: {
      source: BUNDLED.pilot.weights_sha256 ?? "",
      target: BUNDLED.target.weights_sha256 ?? "",
    },
    mapper_sha256: mapperSha256,
    tasks: [
      { ...row, task: "helm_bundled", n: 497, accuracy_retention: share, mapped_share: 0.9 },
      { ...row, task: "helm_bundled_sort", group: "helm_bundled", n: 60, accuracy_retention: share },
    ],
    mean: { ...share, tasks: 1 },
    warnings: [],
    limit: null,
    device: "cpu",
    development: true,
    versions: { lm_eval: "0.4.13" },
    ...changes,
  };
}
