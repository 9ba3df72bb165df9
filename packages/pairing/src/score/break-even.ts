import type { BreakEven, CostPoint } from "@helm/contracts";

type Path =
  | "target_prefill_ms"
  | "transfer_ms"
  | "direct_target_ms"
  | "escalated_with_transfer_ms"
  | "escalated_without_transfer_ms";

/**
 * The shortest measured length from which `ours` beats `theirs`, there and at every longer measured point; null where
 * the longest one is not beaten. Points that lack either are passed over.
 */
function beatsFrom(cost: readonly CostPoint[], ours: Path, theirs: Path): number | null {
  let from: number | null = null;
  for (const point of [...cost].sort((a, b) => a.tokens - b.tokens)) {
    const [own, other] = [point[ours], point[theirs]];
    if (own == null || other == null) continue;
    if (own >= other) from = null;
    else from ??= point.tokens;
  }
  return from;
}

/** Every comparison that the reports draw, computed once. */
export function breakEvenOf(cost: readonly CostPoint[]): BreakEven {
  return {
    transfer: beatsFrom(cost, "transfer_ms", "target_prefill_ms"),
    with_pilot: beatsFrom(cost.map(withPilot), "transfer_ms", "target_prefill_ms"),
    escalated: beatsFrom(cost, "escalated_with_transfer_ms", "escalated_without_transfer_ms"),
    direct: beatsFrom(cost, "escalated_with_transfer_ms", "direct_target_ms"),
  };
}

/** The other curve: the pilot's own prefill counted as well, as published tables count it. */
function withPilot(point: CostPoint): CostPoint {
  const { pilot_prefill_ms: pilot, transfer_ms: transfer } = point;
  return { ...point, transfer_ms: pilot === null || transfer === null ? null : pilot + transfer };
}
