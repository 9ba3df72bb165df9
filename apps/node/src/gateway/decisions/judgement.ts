import { effectiveSettings, type JudgedEvidence, type Judgement } from "@helm/cascade";
import { type HelmAnswer, JUDGE_LABELS, type TraceJudge } from "@helm/contracts";
import type { Exchange, RouteView } from "../exchange/resources";

type Kept = {
  outcome: "keep";
  reason: "CONFIDENT" | "STREAM_MODE" | "TOOL_LOOP" | "RETURNED";
  evidence?: JudgedEvidence;
};

/** What became of a pilot's answer: judged, or kept without a look. */
export type Looked = Exclude<Judgement, { outcome: "keep" }> | Kept;

/** As the answer's body tells it; null where nothing was judged. */
export function describeJudgement(judgement: Looked): HelmAnswer["judge"] {
  if (judgement.outcome === "no_evidence" || !judgement.evidence) return null;
  const { mean, min, version, score, threshold } = judgement.evidence;
  const escalate = judgement.outcome === "escalate";
  return { mean_logprob: mean, min_logprob: min, escalate, version, score, threshold };
}

/** As a trace tells it, with all that the judge read. */
export function traceJudgement(x: Exchange, { route }: RouteView, judgement: Looked): TraceJudge | null {
  if (judgement.outcome === "no_evidence" || !judgement.evidence) return null;
  const { mean, version, score, threshold, label, features } = judgement.evidence;
  const escalate = judgement.outcome === "escalate";
  const evidence = Object.fromEntries(Object.entries(features).filter(([, value]) => value !== undefined));
  if (score !== null && threshold !== null)
    return {
      version,
      measure: "probability",
      score,
      threshold,
      escalate,
      label: label && JUDGE_LABELS[label],
      table: route.judge.table?.sha256 ?? null,
      evidence,
    };
  const { meanLogprob, minLogprob } = effectiveSettings(route, x.tenant);
  return {
    version,
    measure: "mean_logprob",
    score: mean,
    threshold: meanLogprob.value,
    escalate,
    label: null,
    evidence: { ...evidence, min_logprob_threshold: minLogprob.value },
  };
}
