import type { Assessment, Warning } from "@helm/contracts";

/** The verdict in words, as CLI, console and demo show it. */
export function sentenceFor(assessment: Omit<Assessment, "sentence">): string {
  const { failure, verdict, gate, gate_on, retention, warnings } = assessment;
  if (failure) return failure.message;
  const compared =
    gate_on === "lower" ? `the lower bound ${floor(retention.low)}` : `the value ${floor(retention.value)}`;
  const measured = `retention ${round(retention.value)} (95 % interval ${round(retention.low)} to ${round(retention.high)}, ${retention.n} sequences)`;
  const first =
    verdict === "CLEARED"
      ? `Cleared: ${measured}; ${compared} reaches the gate of ${gateText(gate)}. The target says what it would have said.`
      : `Below the gate: ${measured}; ${compared} does not reach the gate of ${gateText(gate)}. This pair is not used for transfer.`;
  return [first, ...warnings.map((warning) => WARNINGS[warning])].join(" ");
}

const WARNINGS: Record<Warning, string> = {
  NOT_ABOVE_PILOT:
    "Warning: with the carried cache the target was not shown to answer better than the pilot alone.",
  TARGET_NOT_BETTER: "Warning: on these probes the target itself is no better than the pilot.",
  GATE_OVERFITTED: "Warning: the report split scores clearly below the gate split.",
};

/** Two decimals, or all that it has. */
function gateText(gate: number): string {
  return gate.toString().length > 4 ? gate.toString() : gate.toFixed(2);
}

/** Never rounded up across the gate: 0.8996 must not read 0.900. */
function floor(value: number): string {
  return (Math.floor(value * 1e4) / 1e4).toFixed(4);
}

function round(value: number): string {
  return value.toFixed(3);
}
