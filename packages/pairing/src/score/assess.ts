import {
  type Assessment,
  type DiagnosisThresholds,
  missesStricterOnly,
  type Verdict,
  type Warning,
} from "@helm/contracts";
import { adviceFor } from "./advice";
import { byDomain, byPrefix, scoreOf } from "./arm-score";
import { LEAST_SEQUENCES } from "./bootstrap";
import { checkCounts, inSplit, PLAIN_RIDGE } from "./check-counts";
import { DIAGNOSIS_THRESHOLDS, diagnose } from "./diagnosis";
import { type LongLeftOut, longRows } from "./long-rows";
import { compareWithPilot } from "./pilot";
import { type CountsByArm, type Pooled, pool, toColumns } from "./pool";
import { sentenceFor } from "./sentence";

export interface AssessmentInput {
  counts: CountsByArm;
  gate: number;
  gateOn: "lower" | "point";
  /** The same model on both sides: compared with no pilot, and its mapper is the self-map. */
  control: boolean;
  /** How the mapper was fitted; the plain ridge has no arm beside itself. */
  method: string;
  /** What the models ran in; identity is held to the bound of this type. */
  dtype: "float32" | "bfloat16";
  /** Mean cosine of mapped and native rows; without it a pair below the gate gets no diagnosis. */
  kvCosine?: { k: number; v: number };
  /** As the mapper's manifest names them. */
  thresholds?: DiagnosisThresholds;
  /** Rows beyond the fitted length that the run left out, with its reasons. */
  longLeftOut?: LongLeftOut[];
}

export const IDENTITY_BOUND = { float32: 0.999, bfloat16: 0.99 } as const;
export const SELF_MAP_BOUND = 0.98;
export const BLIND_ABOVE = 0.7;
export const LEAST_POSITIONS = 200;
/** The job says the same of a missed bound, word for word. */
const MACHINERY_AT_FAULT = "the machinery is at fault, not the pair";
const PRENORM_AT_FAULT =
  "a pre-norm fit's self-map is fitted and not exact, so neither machinery nor pair is shown to be at fault; use another --method";

/**
 * Gate, bounds and warnings applied to a calibration's counts: the one place where a verdict is made. Errors:
 * COUNTS_REFUSED where the counts allow none (an arm missing, sequences repeated or unlike, splits that overlap).
 */
export function assess(input: AssessmentInput): Assessment {
  const { counts, gate, gateOn, control } = input;
  checkCounts(counts, input);
  const gateRows = inSplit(counts.mapper, "gate");
  const pooled = pool(toColumns(gateRows));
  const score = scoreOf(gateRows);
  const arms = armScores(counts);
  if (control) arms.self_map ??= score;
  if (input.method === PLAIN_RIDGE) arms.plain_ridge ??= score;
  const report = inSplit(counts.mapper, "report");
  const reportScore = report.length > 0 ? scoreOf(report) : null;
  const blind = Math.max(arms.zero_cache?.retention ?? 1, arms.other_sequence?.retention ?? 1);
  const failure = findFailure(input, pooled, arms, blind);
  const pilot = control ? null : compareWithPilot(gateRows);
  const verdict: Verdict | null = failure
    ? null
    : (gateOn === "lower" ? score.low : score.retention) >= gate
      ? "CLEARED"
      : "BELOW_GATE";
  const warnings: Warning[] = pilot?.warning ? [pilot.warning] : [];
  if (reportScore && score.low > reportScore.high) warnings.push("GATE_OVERFITTED");
  const { retention: value, low, high, n, buckets } = score;
  const positions = pooled.totals.first + pooled.totals.early + pooled.totals.late;
  const assessment: Assessment = {
    gate,
    gate_on: gateOn,
    verdict,
    failure,
    retention: { value, low, high, n, positions, buckets },
    report: reportScore,
    prefix_gain: blind >= 1 ? null : (value - blind) / (1 - blind),
    arms,
    by_domain: byDomain(gateRows),
    by_prefix: byPrefix(gateRows),
    long: longRows(counts, input.longLeftOut),
    diagnosis: null,
    net_rescue: pilot?.net_rescue ?? null,
    gold_gain: pilot?.gold_gain ?? null,
    warnings,
    sentence: "",
  };
  if (verdict === "BELOW_GATE" && input.kvCosine && !missesStricterOnly(assessment))
    assessment.diagnosis = diagnose(input.kvCosine, input.thresholds ?? DIAGNOSIS_THRESHOLDS);
  return { ...assessment, advice: adviceFor(assessment), sentence: sentenceFor(assessment) };
}

function findFailure(
  input: AssessmentInput,
  pooled: Pooled,
  arms: Assessment["arms"],
  blind: number,
): Assessment["failure"] {
  const bound = IDENTITY_BOUND[input.dtype];
  const identity = arms.identity?.retention ?? 0;
  if (identity < bound) return { code: "IDENTITY_MISSED", message: missed("identity", identity, bound) };
  const self = arms.self_map?.retention ?? 0;
  if (self < SELF_MAP_BOUND) {
    const why = input.method.startsWith("prenorm") ? PRENORM_AT_FAULT : MACHINERY_AT_FAULT;
    return { code: "SELF_MAP_MISSED", message: missed("self-map", self, SELF_MAP_BOUND, why) };
  }
  const { first, early, late } = pooled.totals;
  if (Math.min(first, early, late) < LEAST_POSITIONS) {
    const message = `The probes are too short: ${first} / ${early} / ${late} positions in the buckets 1 / 2-16 / 17-64, and each needs ${LEAST_POSITIONS}. Use a corpus with more or longer sequences.`;
    return { code: "PROBES_TOO_SHORT", message };
  }
  const sequences = inSplit(input.counts.mapper, "gate").length;
  if (sequences < LEAST_SEQUENCES) {
    const message = `The probes are too short: ${sequences} sequences in the gate split, and the interval needs ${LEAST_SEQUENCES}. Use a corpus with more texts.`;
    return { code: "PROBES_TOO_SHORT", message };
  }
  if (blind > BLIND_ABOVE) {
    const message = `The probes are blind: without the prompt's own cache the target still agrees at ${blind.toFixed(3)} of the positions (at most ${BLIND_ABOVE}). Use a corpus whose answers depend on the prompt.`;
    return { code: "PROBES_BLIND", message };
  }
  return null;
}

/** Four digits, cut off: a bound that was missed never reads as reached. */
function missed(arm: string, value: number, bound: number, why = MACHINERY_AT_FAULT): string {
  const reached = (Math.floor(value * 1e4) / 1e4).toFixed(4);
  return `The ${arm} arm reached ${reached} and must reach ${bound}: ${why}. Nothing is concluded from this run.`;
}

function armScores(counts: CountsByArm): Assessment["arms"] {
  const arms: Assessment["arms"] = {};
  for (const [name, sequences] of Object.entries(counts) as [keyof CountsByArm, CountsByArm["mapper"]][]) {
    const rows = inSplit(sequences, "gate");
    if (name !== "mapper" && rows.length > 0) arms[name] = scoreOf(rows);
  }
  return arms;
}
