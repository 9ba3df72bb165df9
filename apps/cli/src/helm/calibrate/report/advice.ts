import { WARNINGS } from "@helm/pairing";
import { wrap } from "../../../terminal/style";
import type { Reported } from "./reported";

/** The next step, where there is one to take: after each warning, and below the gate. */
export function adviceLines({ assessment }: Reported, width: number): string[] {
  const { warnings, diagnosis, verdict } = assessment;
  const steps = warnings.map((warning) => `${warning}: ${WARNINGS[warning].advice}`);
  if (diagnosis) steps.push(`${diagnosis.code}: ${diagnosis.message}`);
  else if (verdict === "BELOW_GATE") {
    steps.push(
      "The cosine tells neither a wrong map nor a sensitive target: compare another --method or a larger --k on the same probes.",
    );
  }
  return steps.flatMap((step) => wrap(step, width - 2).map((line, at) => `${at === 0 ? "- " : "  "}${line}`));
}
