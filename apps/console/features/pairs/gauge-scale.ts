export type GaugeScale = { low: number; at: (value: number) => number };

/**
 * Where retention lies on the gauges of one table, in percent of their width. The upper half is drawn unless a row
 * needs more: all rows share one scale, or their marks could not be compared.
 */
export function gaugeScale(values: readonly (number | null | undefined)[]): GaugeScale {
  const known = values.filter((value): value is number => typeof value === "number");
  const low = known.every((value) => value >= 0.5) ? 0.5 : 0;
  return { low, at: (value) => (clamp(value, low, 1) - low) * (100 / (1 - low)) };
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
