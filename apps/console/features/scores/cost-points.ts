import type { CostPoint } from "@helm/contracts";

export type CostRow = {
  tokens: number;
  target: number | null;
  transfer: number | null;
  whole: number | null;
};

/** `whole`: what the caller waits for when the pilot's own reading of the prompt is counted as well. */
export function costRows(points: readonly CostPoint[]): CostRow[] {
  return points
    .filter((point) => point.target_prefill_ms !== null || point.transfer_ms !== null)
    .map(({ tokens, target_prefill_ms: target, transfer_ms: transfer, pilot_prefill_ms: pilot }) => ({
      tokens,
      target,
      transfer,
      whole: pilot !== null && transfer !== null ? pilot + transfer : null,
    }))
    .sort((a, b) => a.tokens - b.tokens);
}

/**
 * The fewest measured tokens from which a transfer beats the target's own prefill, there and at every longer point;
 * null where it never does. The pilot has answered already by then, so its prefill does not count here.
 */
export function paysFrom(rows: readonly CostRow[]): number | null {
  let from: number | null = null;
  for (const { tokens, target, transfer } of rows) {
    if (target === null || transfer === null) continue;
    if (transfer >= target) from = null;
    else from ??= tokens;
  }
  return from;
}
