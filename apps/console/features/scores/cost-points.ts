import type { CostPoint } from "@helm/contracts";
import type { Published } from "./published";

/** What each line of the two charts is a value of; a row lacks what was not measured at its length. */
export type CostKey =
  | "target"
  | "transfer"
  | "whole"
  | "publishedTarget"
  | "publishedTransfer"
  | "direct"
  | "withTransfer"
  | "withoutTransfer";
export type CostRow = { tokens: number } & Partial<Record<CostKey, number | null>>;

/** `whole`: the pilot's own reading of the prompt counted as well. Published points come in at their own lengths. */
export function costRows(points: readonly CostPoint[], published: Published | null = null): CostRow[] {
  const rows = new Map<number, CostRow>();
  const at = (tokens: number) => {
    const row = rows.get(tokens) ?? { tokens };
    rows.set(tokens, row);
    return row;
  };
  for (const point of points) {
    const { tokens, target_prefill_ms: target, transfer_ms: transfer, pilot_prefill_ms: pilot } = point;
    if (target === null && transfer === null) continue;
    const whole = pilot !== null && transfer !== null ? pilot + transfer : null;
    Object.assign(at(tokens), { target, transfer, whole });
  }
  for (const { tokens, target, transfer } of published?.points ?? [])
    Object.assign(at(tokens), { publishedTarget: target, publishedTransfer: transfer });
  return [...rows.values()].sort((a, b) => a.tokens - b.tokens);
}

/** The three whole paths to the target's first token; empty for runs that did not measure them. */
export function pathRows(points: readonly CostPoint[]): CostRow[] {
  return points
    .flatMap((point) =>
      point.direct_target_ms == null
        ? []
        : [
            {
              tokens: point.tokens,
              direct: point.direct_target_ms,
              withTransfer: point.escalated_with_transfer_ms ?? null,
              withoutTransfer: point.escalated_without_transfer_ms ?? null,
            },
          ],
    )
    .sort((a, b) => a.tokens - b.tokens);
}

/** The longest length at which both were measured: where a saving shows best. */
export function longestMeasured(
  points: readonly CostPoint[],
): { tokens: number; target: number; transfer: number } | null {
  const both = points.flatMap(({ tokens, target_prefill_ms: target, transfer_ms: transfer }) =>
    target === null || transfer === null ? [] : [{ tokens, target, transfer }],
  );
  return both.reduce<(typeof both)[number] | null>(
    (longest, point) => (longest && longest.tokens > point.tokens ? longest : point),
    null,
  );
}
