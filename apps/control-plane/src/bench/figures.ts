export interface Interval {
  value: number;
  low: number;
  high: number;
}

export function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const below = sorted[low] ?? 0;
  return below + ((sorted[low + 1] ?? below) - below) * (at - low);
}

const DRAWS = 1_000;

/** 95 % by drawing whole segments again: deliveries of one moment are late together, so single ones prove nothing. */
export function bySegments(segments: number[][], q: number): Interval {
  const random = seeded(7);
  const draws = Array.from({ length: DRAWS }, () => {
    const drawn = segments.map(() => segments[Math.floor(random() * segments.length)] ?? []);
    return quantile(drawn.flat(), q);
  });
  return { value: quantile(segments.flat(), q), low: quantile(draws, 0.025), high: quantile(draws, 0.975) };
}

/** The same draws each time: a report made twice of one measurement is one report. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
