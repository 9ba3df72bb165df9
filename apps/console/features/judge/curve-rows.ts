import type { JudgeTable } from "@helm/contracts";

/** One share of escalations, in whole per cent, and what each order of escalating gives there. */
export interface CurveRow {
  percent: number;
  threshold: number;
  judge: number;
  low: number;
  high: number;
  /** As many, by chance. */
  random: number;
  /** As many, and only those that need it. */
  oracle: number;
}

/** Random and oracle follow from the pilot alone: every escalation that is needed lifts the quality by its own share. */
export function curveRows({ curve }: Pick<JudgeTable, "curve">): CurveRow[] {
  const alone = curve[0]?.quality ?? 0;
  return curve.map(({ rate, threshold, quality, low, high }) => ({
    percent: Math.round(100 * rate),
    threshold,
    judge: quality,
    low,
    high,
    random: alone + rate * (1 - alone),
    oracle: Math.min(1, alone + rate),
  }));
}

/** A tenth below the pilot alone. */
export function floorOf(rows: readonly CurveRow[]): number {
  return Math.max(0, Math.floor((rows[0]?.low ?? 0) * 10) / 10);
}

/** Every tenth up to 1, or every fifth where that would be many. */
export function ticksFrom(floor: number): number[] {
  const step = 1 - floor > 0.5 ? 2 : 1;
  const first = Math.round(floor * 10);
  return Array.from({ length: 11 - first }, (_, at) => (first + at) / 10).filter(
    (tick) => tick === floor || Math.round((1 - tick) * 10) % step === 0,
  );
}
