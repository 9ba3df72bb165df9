import { type Columns, meanOfBuckets } from "./pool";

export const RESAMPLES = 2000;
export const SEED = 0x4e1d;

export interface Interval {
  low: number;
  high: number;
}

/**
 * 95 % percentile interval of `statistic` over sequences drawn with replacement. The statistic gets the column sums
 * of the drawn rows and how many were drawn. The seed is fixed: the same counts give the same interval everywhere.
 */
export function bootstrap(
  rows: Float64Array,
  width: number,
  statistic: (sums: Float64Array, drawn: number) => number,
  resamples = RESAMPLES,
): Interval {
  const count = rows.length / width;
  if (count === 0) return { low: 0, high: 0 };
  const draw = generator(SEED);
  const values = new Float64Array(resamples);
  const sums = new Float64Array(width);
  for (let r = 0; r < resamples; r++) {
    sums.fill(0);
    for (let i = 0; i < count; i++) {
      const start = Math.floor(draw() * count) * width;
      for (let c = 0; c < width; c++) sums[c]! += rows[start + c]!;
    }
    values[r] = statistic(sums, count);
  }
  values.sort();
  return { low: quantile(values, 0.025), high: quantile(values, 0.975) };
}

export function retentionInterval(columns: Columns): Interval {
  return bootstrap(columns.counts, 6, meanOfBuckets);
}

/** Linear interpolation between order statistics (Hyndman and Fan, type 7). */
export function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (place - below);
}

/** sfc32 (C. Doty-Humphrey), seeded from one number; values in [0, 1). */
function generator(seed: number): () => number {
  let a = seed | 0;
  let b = 0x9e3779b9 | 0;
  let c = 0x243f6a88 | 0;
  let counter = 1;
  const next = () => {
    const t = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return (t >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}
