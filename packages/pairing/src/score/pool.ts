import type { ArmName, SequenceCounts } from "@helm/contracts";

export const BUCKETS = ["first", "early", "late"] as const;

export type CountsByArm = Partial<Record<ArmName, SequenceCounts[]>>;

/** One arm's counts as columns: agree and total of each bucket, sequence by sequence. */
export interface Columns {
  sequences: number;
  /** [agree first, total first, agree early, total early, agree late, total late] for each sequence. */
  counts: Float64Array;
}

export interface Pooled {
  retention: number;
  buckets: { first: number; early: number; late: number };
  totals: { first: number; early: number; late: number };
}

export function toColumns(sequences: SequenceCounts[]): Columns {
  const counts = new Float64Array(sequences.length * 6);
  sequences.forEach((sequence, row) => {
    BUCKETS.forEach((bucket, column) => {
      const { agree, total } = sequence[bucket];
      counts[row * 6 + column * 2] = agree;
      counts[row * 6 + column * 2 + 1] = total;
    });
  });
  return { sequences: sequences.length, counts };
}

export function pool(columns: Columns): Pooled {
  const sums = new Float64Array(6);
  for (const [i, count] of columns.counts.entries()) sums[i % 6] = (sums[i % 6] ?? 0) + count;
  const [agreeFirst = 0, first = 0, agreeEarly = 0, early = 0, agreeLate = 0, late = 0] = sums;
  return {
    retention: meanOfBuckets(sums),
    buckets: {
      first: share(agreeFirst, first),
      early: share(agreeEarly, early),
      late: share(agreeLate, late),
    },
    totals: { first, early, late },
  };
}

export function share(agree: number, total: number): number {
  return total > 0 ? agree / total : 0;
}

/** Mean of the buckets' pooled shares; a bucket without positions has no share and is left out. */
export function meanOfBuckets(sums: Float64Array): number {
  let mean = 0;
  let present = 0;
  for (let bucket = 0; bucket < 6; bucket += 2) {
    const total = sums[bucket + 1] ?? 0;
    if (total > 0) {
      mean += (sums[bucket] ?? 0) / total;
      present++;
    }
  }
  return present > 0 ? mean / present : 0;
}
