import type { LayerFit } from "@helm/contracts";

export type FitKey = "k" | "kSingle" | "v" | "vSingle";
export type FitRow = { layer: number } & Record<FitKey, number | null>;

export function fitRows(fit: readonly LayerFit[]): FitRow[] {
  return [...fit]
    .sort((a, b) => a.layer - b.layer)
    .map(({ layer, fit: { k, v } }) => ({
      layer,
      k: k.r2 ?? null,
      kSingle: k.best_single_r2 ?? null,
      v: v.r2 ?? null,
      vSingle: v.best_single_r2 ?? null,
    }));
}

export function meanOf(rows: readonly FitRow[], key: FitKey): number | null {
  const known = rows.flatMap((row) => row[key] ?? []);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** The tenth below the lowest value, so that a high fit is not pressed against the top; never above 0.9. */
export function fitFloor(rows: readonly FitRow[]): number {
  const values = rows
    .flatMap(({ k, kSingle, v, vSingle }) => [k, kSingle, v, vSingle])
    .filter((r) => r !== null);
  const lowest = Math.min(0.95, ...values);
  return Math.max(-1, Math.floor(lowest * 10 + 1e-9) / 10);
}

/** From 1 down to the floor in even steps. */
export function fitTicks(floor: number): number[] {
  const span = 1 - floor;
  const step = span <= 0.25 ? 0.05 : span <= 0.5 ? 0.1 : span <= 1 ? 0.2 : 0.5;
  const count = Math.floor(span / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((1 - (count - i) * step).toFixed(2)));
}
