import type { CostPoint } from "@helm/contracts";

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
export function beatsFrom(cost: readonly CostPoint[], ours: Path, theirs: Path): number | null {
  let from: number | null = null;
  for (const point of [...cost].sort((a, b) => a.tokens - b.tokens)) {
    const [own, other] = [point[ours], point[theirs]];
    if (own == null || other == null) continue;
    if (own >= other) from = null;
    else from ??= point.tokens;
  }
  return from;
}

/** Where a transfer beats the target's prefill given that the pilot has answered: what `min_tokens` rests on. */
export function paysFrom(cost: readonly CostPoint[]): number | null {
  return beatsFrom(cost, "transfer_ms", "target_prefill_ms");
}

/** The other curve: the pilot's own prefill counted as well, as published tables count it. */
export function wholeFrom(cost: readonly CostPoint[]): number | null {
  const counted = cost.map((point) => ({
    ...point,
    transfer_ms:
      point.pilot_prefill_ms === null || point.transfer_ms === null
        ? null
        : point.pilot_prefill_ms + point.transfer_ms,
  }));
  return beatsFrom(counted, "transfer_ms", "target_prefill_ms");
}
