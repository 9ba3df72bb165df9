import type { Assessment } from "./retention";

/** The retention that a mapper must reach where nobody set another. */
export const DEFAULT_GATE = 0.9;

/**
 * Below a stricter gate than the default one, which it clears. Then nothing is wrong with the map and the target is not
 * sensitive: no diagnosis is made of it.
 */
export function missesStricterOnly({
  verdict,
  gate,
  gate_on: on,
  retention,
}: Pick<Assessment, "verdict" | "gate" | "gate_on" | "retention">): boolean {
  const compared = on === "lower" ? retention.low : retention.value;
  return verdict === "BELOW_GATE" && gate > DEFAULT_GATE && compared >= DEFAULT_GATE;
}
