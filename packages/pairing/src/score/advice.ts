import type { Advice, Assessment, Warning } from "@helm/contracts";

const AFTER: Record<Warning, string> = {
  NOT_ABOVE_PILOT:
    "By the default routing policy this pair is not routed. Calibrate with another method or more sequences, or keep the pilot's answers.",
  TARGET_NOT_BETTER:
    "By the default routing policy this pair is not routed. Take a corpus that is hard for the pilot, or another target.",
  GATE_OVERFITTED:
    "The gate's probes were looked at too often. Trust the report split's number, and calibrate on a fresh corpus.",
};

/** The next steps, where there are any to take: one after each warning, and one below the gate. */
export function adviceFor({
  verdict,
  warnings,
  diagnosis,
}: Pick<Assessment, "verdict" | "warnings" | "diagnosis">): Advice[] {
  const steps: Advice[] = warnings.map((code) => ({ code, message: AFTER[code] }));
  if (verdict !== "BELOW_GATE") return steps;
  const unclear =
    "The cosine shows neither a wrong map nor a sensitive target. Compare another method or a larger k on the same probes.";
  return [...steps, diagnosis ?? { code: "BELOW_GATE", message: unclear }];
}
