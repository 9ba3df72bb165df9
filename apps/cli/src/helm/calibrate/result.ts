import { type Assessment, type CalibrationResult, ExitCode } from "@helm/contracts";
import { breakEvenOf } from "@helm/pairing";
import type { Reported } from "./report";

/** The last line of `--json`, the same from a local run and from the server's. */
export function toResult(
  pair: { source: string; target: string },
  { assessment, scores, cost, fit, development }: Omit<Reported, "pair" | "artifact">,
  artifact: CalibrationResult["artifact"],
): CalibrationResult {
  return {
    type: "result",
    pair,
    verdict: assessment.verdict,
    gate: assessment.gate,
    retention: assessment.retention,
    prefix_gain: assessment.prefix_gain,
    kl: scores.kl,
    kv_cosine: scores.kv_cosine,
    arms: { ...assessment.arms },
    warnings: assessment.warnings,
    assessment,
    scores,
    cost,
    break_even: breakEvenOf(cost),
    fit,
    development,
    artifact,
  };
}

/** Probes that show nothing are an unreadable corpus; a control that missed its bound is the machinery's failure. */
export function exitCodeOf(assessment: Pick<Assessment, "verdict" | "failure">): number {
  switch (assessment.failure?.code) {
    case "PROBES_TOO_SHORT":
    case "PROBES_BLIND":
      return ExitCode.unreadable;
    case "IDENTITY_MISSED":
    case "SELF_MAP_MISSED":
      return ExitCode.machineryFailed;
    case undefined:
      return assessment.verdict === "CLEARED" ? ExitCode.cleared : ExitCode.belowGate;
  }
}
