import type { Columns } from "./pool";

export const RESAMPLES = 2000;
export const SEED = 0x4e1d;
const OTHER_SEED = 0x71b3;
/** An interval over fewer sequences is not to be trusted; a run has 256 by default. */
export const LEAST_SEQUENCES = 100;

export interface Interval {
  low: number;
  high: number;
}

/**
 * 95 % percentile interval of `statistic` over sequences drawn with replacement. The statistic gets the column sums
 * of the drawn rows and how many were drawn. The seed is fixed: the same counts give the same interval everywhere,
 * and samples of equal size are drawn alike, so that arms of the same sequences are compared pairwise.
 */
export function bootstrap(
  rows: Float64Array,
  width: number,
  statistic: (sums: Float64Array, drawn: number) => number,
): Interval {
  const count = rows.length / width;
  if (count === 0) return { low: 0, high: 0 };
  const picks = drawsOf(count);
  const sums = new Float64Array(width);
  return intervalOf((resample) => {
    sums.fill(0);
    const from = resample * count;
    for (let i = from; i < from + count; i++) {
      const start = (picks[i] ?? 0) * width;
      for (let c = 0; c < width; c++) sums[c] = (sums[c] ?? 0) + (rows[start + c] ?? 0);
    }
    return statistic(sums, count);
  });
}

/** The same for `meanOfBuckets`, its six sums unrolled: this runs for every arm and domain of a run. */
export function retentionInterval({ counts, sequences }: Columns): Interval {
  if (sequences === 0) return { low: 0, high: 0 };
  const picks = drawsOf(sequences);
  return intervalOf((resample) => {
    let agreeFirst = 0;
    let first = 0;
    let agreeEarly = 0;
    let early = 0;
    let agreeLate = 0;
    let late = 0;
    const from = resample * sequences;
    for (let i = from; i < from + sequences; i++) {
      const row = (picks[i] ?? 0) * 6;
      agreeFirst += counts[row] ?? 0;
      first += counts[row + 1] ?? 0;
      agreeEarly += counts[row + 2] ?? 0;
      early += counts[row + 3] ?? 0;
      agreeLate += counts[row + 4] ?? 0;
      late += counts[row + 5] ?? 0;
    }
    const present = (first > 0 ? 1 : 0) + (early > 0 ? 1 : 0) + (late > 0 ? 1 : 0);
    if (present === 0) return 0;
    const sum =
      agreeFirst / Math.max(1, first) + agreeEarly / Math.max(1, early) + agreeLate / Math.max(1, late);
    return sum / present;
  });
}

/** 95 % interval of the second sample's statistic less the first's; the two are other sequences and are drawn apart. */
export function unpairedInterval(
  first: Float64Array,
  second: Float64Array,
  width: number,
  statistic: (sums: Float64Array) => number,
): Interval {
  const [one, two] = [first, second].map((rows, at) => {
    const count = rows.length / width;
    // The same draws for both would tie what has nothing to do with each other.
    const picks = drawsOf(count, at === 0 ? SEED : OTHER_SEED);
    return (resample: number) => {
      const sums = new Float64Array(width);
      for (let i = resample * count; i < (resample + 1) * count; i++) {
        const start = (picks[i] ?? 0) * width;
        for (let c = 0; c < width; c++) sums[c] = (sums[c] ?? 0) + (rows[start + c] ?? 0);
      }
      return statistic(sums);
    };
  });
  return intervalOf((resample) => (two?.(resample) ?? 0) - (one?.(resample) ?? 0));
}

function intervalOf(statistic: (resample: number) => number): Interval {
  const values = new Float64Array(RESAMPLES);
  for (let resample = 0; resample < RESAMPLES; resample++) values[resample] = statistic(resample);
  values.sort();
  return { low: quantile(values, 0.025), high: quantile(values, 0.975) };
}

/** Linear interpolation between order statistics (Hyndman and Fan, type 7). */
export function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low;
  return low + (high - low) * (place - below);
}

/** Draws that are remembered, of all sizes together: 128 MB. */
const MOST_KEPT = 32_000_000;
const known = new Map<string, Uint32Array>();
let kept = 0;

/** Which of `count` rows each resample draws, resample after resample; the last sizes are remembered. */
function drawsOf(count: number, seed = SEED): Uint32Array {
  const remembered = known.get(`${count}/${seed}`);
  if (remembered) return remembered;
  const draw = generator(seed);
  const picks = new Uint32Array(count * RESAMPLES);
  for (let i = 0; i < picks.length; i++) picks[i] = Math.floor(draw() * count);
  if (kept + picks.length > MOST_KEPT) {
    known.clear();
    kept = 0;
  }
  kept += picks.length;
  known.set(`${count}/${seed}`, picks);
  return picks;
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
