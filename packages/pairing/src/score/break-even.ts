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

/**
 * What each comparison is called, on every page, in the tables, in the command line's reports and in docs/glossary.md: one
 * name for one length. `words` go on from the name.
 */
export const BREAK_EVENS: Record<keyof BreakEven, { name: string; words: string }> = {
  transfer: {
    name: "Pays from",
    words: "a transfer beats the target's own prefill, given that the pilot has answered",
  },
  with_pilot: {
    name: "Pays from, pilot counted",
    words: "the pilot's prefill and a transfer beat the target's own prefill",
  },
  escalated: {
    name: "Escalation pays from",
    words: "a whole escalation with the transfer beats one without, to the target's first token",
  },
  direct: {
    name: "Beats direct from",
    words: "a whole escalation with the transfer beats the target asked directly",
  },
};

/** "from 64 tokens", or that no measured length shows it. */
export function fromTokens(tokens: number | null | undefined): string {
  return tokens == null ? "at no measured length" : `from ${tokens.toLocaleString("en")} tokens`;
}
