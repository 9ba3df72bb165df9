import type { Assessment, Warning } from "@helm/contracts";

/** The verdict in words, as CLI, console and demo show it. */
export function sentenceFor(assessment: Omit<Assessment, "sentence">): string {
  const { failure, verdict, gate, gate_on, retention, warnings } = assessment;
  if (failure) return failure.message;
  const by = (value: number) => besideGate(value, gate);
  const measured = `retention ${by(retention.value)} (95 % interval ${by(retention.low)} to ${by(retention.high)}, ${retention.n} sequences)`;
  const compared =
    gate_on === "lower" ? `the lower bound ${by(retention.low)}` : `the value ${by(retention.value)}`;
  const first =
    verdict === "CLEARED"
      ? `Cleared: ${measured}; ${compared} reaches the gate of ${gateText(gate)}. ${sameTokens(retention.value)}`
      : `Below the gate: ${measured}; ${compared} does not reach the gate of ${gateText(gate)}. This mapper is not used for transfer.`;
  return [first, ...warnings.map((warning) => WARNINGS[warning])].join(" ");
}

const WARNINGS: Record<Warning, string> = {
  NOT_ABOVE_PILOT:
    "Warning: with the carried cache the target was not shown to answer better than the pilot alone.",
  TARGET_NOT_BETTER: "Warning: on these probes the target itself is no better than the pilot.",
  GATE_OVERFITTED: "Warning: the report split scores clearly below the gate split.",
};

function sameTokens(value: number): string {
  const share =
    value >= 1 ? "At every counted position" : `At about ${Math.floor(100 * value + 1e-9)} of 100 positions`;
  return `${share} the target says the same next token as with its own cache.`;
}

/** Two decimals, or all that it has. */
export function gateText(gate: number): string {
  return gate.toString().length > 4 ? gate.toString() : gate.toFixed(2);
}

/** Three decimals, and as many more as it takes not to stand on the gate's other side: 0.8996 never reads 0.900. */
export function besideGate(value: number, gate: number): string {
  for (let digits = 3; digits < 12; digits++) {
    const text = value.toFixed(digits);
    if (Number(text) >= gate === value >= gate) return text;
  }
  return value.toString();
}
