export type Sample = { at: number; percent: number };

const WINDOW_MS = 60_000;
const LEAST_MS = 8_000;
const LEAST_GAIN = 1;
const STEADY = 0.35;

/** Keeps the samples of the last minute; a percent that does not move is kept too, for standing still is news. */
export function addSample(samples: readonly Sample[], next: Sample): Sample[] {
  const last = samples.at(-1);
  if (last && next.percent < last.percent) return [next];
  return [...samples, next].filter((sample) => next.at - sample.at <= WINDOW_MS);
}

/**
 * Milliseconds to the end, or null while the pace is not stable: too short a look, too little gained, or the two
 * halves of the look differ by more than a third from their mean.
 */
export function timeLeft(samples: readonly Sample[], now: number): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last || last.percent >= 100) return null;
  const gained = last.percent - first.percent;
  if (last.at - first.at < LEAST_MS || gained < LEAST_GAIN) return null;
  const middleAt = (first.at + last.at) / 2;
  const middle = samples.reduce((best, sample) =>
    Math.abs(sample.at - middleAt) < Math.abs(best.at - middleAt) ? sample : best,
  );
  const early = pace(first, middle);
  const late = pace(middle, last);
  if (early === null || late === null) return null;
  const mean = (early + late) / 2;
  if (mean <= 0 || Math.abs(early - late) / (2 * mean) > STEADY) return null;
  const left = ((100 - last.percent) * (last.at - first.at)) / gained - (now - last.at);
  return Math.max(0, left);
}

function pace(from: Sample, to: Sample): number | null {
  return to.at > from.at ? (to.percent - from.percent) / (to.at - from.at) : null;
}

/** Coarse on purpose: nobody needs the seconds of an estimate. */
export function timeLeftWords(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return "a few seconds left";
  if (seconds < 55) return `about ${Math.round(seconds / 10) * 10} s left`;
  if (seconds < 90) return "about a minute left";
  if (seconds < 3_600) return `about ${Math.round(seconds / 60)} min left`;
  const hours = Math.round(seconds / 360) / 10;
  return `about ${hours} h left`;
}

/** What is shown, and since when the estimate has been telling something else. */
export type Settled = { endsAt: number | null; awaySince: number | null };

const SETTLED_MS = 8_000;
const AWAY = 0.25;
const FOLLOW = 0.2;

/**
 * An end that people can plan by: it follows small changes slowly, and never goes up before their eyes. Where the estimate
 * stays later than was said for some seconds, nothing is said until it has settled there.
 */
export function settle(before: Settled | null, left: number | null, now: number): Settled {
  if (left === null) return { endsAt: null, awaySince: null };
  const raw = now + left;
  const shown = before?.endsAt ?? null;
  if (shown === null) {
    const since = before?.awaySince ?? null;
    // The first time it is said at once; after it was taken back, once it has kept still.
    if (since === null || now - since >= SETTLED_MS) return { endsAt: raw, awaySince: null };
    return { endsAt: null, awaySince: since };
  }
  const later = raw - shown;
  if (later <= AWAY * Math.max(10_000, shown - now)) {
    // Earlier is followed, later only a little: the countdown counts down.
    const step = later > 0 ? Math.min(FOLLOW * later, 500) : FOLLOW * later;
    return { endsAt: shown + step, awaySince: null };
  }
  return { endsAt: null, awaySince: now };
}
