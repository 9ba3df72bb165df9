import { type Diagnosis, DiagnosisThresholds } from "@helm/contracts";

/** Where a manifest names none. Both compare with the mean of the K and the V cosine. */
export const DIAGNOSIS_THRESHOLDS: DiagnosisThresholds = { map_wrong_below: 0.85, sensitive_above: 0.95 };

/** The thresholds that a mapper's manifest names under `diagnosis`, else the defaults. */
export function thresholdsOf(manifest: Record<string, unknown> | null | undefined): DiagnosisThresholds {
  const named = DiagnosisThresholds.safeParse(manifest?.diagnosis);
  return named.success ? named.data : DIAGNOSIS_THRESHOLDS;
}

/** Why a pair stayed below the gate; null where the cosine lies between the thresholds and tells neither. */
export function diagnose(
  cosine: { k: number; v: number },
  thresholds: DiagnosisThresholds,
): Diagnosis | null {
  const mean = (cosine.k + cosine.v) / 2;
  if (mean < thresholds.map_wrong_below) {
    const message = `The mapped keys and values are far from the target's own (mean cosine ${mean.toFixed(3)}, under ${thresholds.map_wrong_below}): the map is wrong. Another method, more data or more layers may help.`;
    return { code: "MAP_WRONG", message };
  }
  if (mean > thresholds.sensitive_above) {
    const message = `The mapped keys and values are close to the target's own (mean cosine ${mean.toFixed(3)}, above ${thresholds.sensitive_above}) and its answers still differ: this target is sensitive, refitting will not help.`;
    return { code: "TARGET_SENSITIVE", message };
  }
  return null;
}
