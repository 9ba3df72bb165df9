import {
  type Advice,
  type Assessment,
  DEFAULT_GATE,
  missesStricterOnly,
  type Warning,
} from "@helm/contracts";
import { gateText } from "./sentence";

const AFTER: Record<Warning, string> = {
  NOT_ABOVE_PILOT:
    "By the default routing policy this pair is not routed. Calibrate with another method or more sequences, or keep the pilot's answers.",
  TARGET_NOT_BETTER:
    "By the default routing policy this pair is not routed. Take a corpus that is hard for the pilot, or another target.",
  GATE_OVERFITTED:
    "The gate's probes were looked at too often. Trust the report split's number, and calibrate on a fresh corpus.",
};

/** The next steps, where there are any to take: one after each warning, and one below the gate. */
export function adviceFor(assessment: Omit<Assessment, "sentence">): Advice[] {
  const { verdict, warnings, diagnosis } = assessment;
  const steps: Advice[] = warnings.map((code) => ({ code, message: AFTER[code] }));
  if (verdict !== "BELOW_GATE") return steps;
  if (missesStricterOnly(assessment)) return [...steps, stricter(assessment)];
  const unclear =
    "The cosine shows neither a wrong map nor a sensitive target. Compare another method or a larger k on the same probes.";
  return [...steps, diagnosis ?? { code: "BELOW_GATE", message: unclear }];
}

function stricter({ gate, gate_on: on, retention }: Omit<Assessment, "sentence">): Advice {
  const compared = on === "lower" ? retention.low : retention.value;
  const word = on === "lower" ? "lower bound" : "value";
  const message = `It clears the default gate of ${gateText(DEFAULT_GATE)} and not the stricter one of ${gateText(gate)} that holds here: ${(100 * (gate - compared)).toFixed(1)} points are missing on the ${word}. Compare another method, a larger k or more data on the same probes, or set the gate that this pair needs.`;
  return { code: "STRICTER_GATE", message };
}
