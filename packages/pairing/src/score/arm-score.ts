import type { ArmScore, PointCounts, SequenceCounts } from "@helm/contracts";
import { retentionInterval } from "./bootstrap";
import { type BUCKETS, pool, toColumns } from "./pool";

/** Retention of these sequences with its interval over them. */
export function scoreOf(rows: SequenceCounts[]): ArmScore {
  const columns = toColumns(rows);
  const { retention, buckets } = pool(columns);
  return { retention, ...retentionInterval(columns), n: rows.length, buckets };
}

export function byDomain(rows: SequenceCounts[]): Record<string, ArmScore> {
  const domains = [...new Set(rows.map((row) => row.domain))].sort();
  return Object.fromEntries(
    domains.map((domain) => [domain, scoreOf(rows.filter((row) => row.domain === domain))]),
  );
}

/**
 * Retention by the length of the prefix, hand-over points pooled by power of two; n counts sequences with such a point,
 * and the interval is over them. Null where the run kept no counts by point.
 */
export function byPrefix(rows: SequenceCounts[]): Record<string, ArmScore> | null {
  const groups = new Map<number, SequenceCounts[]>();
  for (const row of rows) {
    const points = row.points ?? [];
    for (const floor of new Set(points.map((point) => powerBelow(point.prefix)))) {
      const own = points.filter((point) => powerBelow(point.prefix) === floor);
      groups.set(floor, [...(groups.get(floor) ?? []), { ...row, ...sumOf(own) }]);
    }
  }
  if (groups.size === 0) return null;
  const floors = [...groups].sort(([a], [b]) => a - b);
  return Object.fromEntries(floors.map(([floor, own]) => [`${floor}-${2 * floor - 1}`, scoreOf(own)]));
}

function sumOf(points: PointCounts[]): Pick<SequenceCounts, "first" | "early" | "late"> {
  const add = (bucket: (typeof BUCKETS)[number]) => ({
    agree: points.reduce((sum, point) => sum + point[bucket].agree, 0),
    total: points.reduce((sum, point) => sum + point[bucket].total, 0),
  });
  return { first: add("first"), early: add("early"), late: add("late") };
}

function powerBelow(length: number): number {
  return 2 ** Math.floor(Math.log2(length));
}
