const DRAWS = 2_000;

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  return sorted[low] + ((sorted[low + 1] ?? sorted[low]) - sorted[low]) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/**
 * A statistic over rounds, with its 95 % interval by drawing whole rounds again: what was measured in one round was
 * measured under the same load, so it is drawn together.
 */
export function overRounds(rounds, statistic) {
  const random = seeded(7);
  const draws = Array.from({ length: DRAWS }, () =>
    statistic(rounds.map(() => rounds[Math.floor(random() * rounds.length)])),
  );
  return { value: statistic(rounds), low: quantile(draws, 0.025), high: quantile(draws, 0.975) };
}

/** The same numbers each time: a report made twice of one measurement is one report. */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function shuffled(items, random) {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}
