const DRAWS = 2_000;

/** A figure over rounds with its 95 % interval, by drawing whole rounds again. */
export function overRounds(rounds, figure) {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const draws = Array.from({ length: DRAWS }, () =>
    figure(rounds.map(() => rounds[Math.floor(random() * rounds.length)])),
  ).sort((a, b) => a - b);
  const at = (q) => draws[Math.min(DRAWS - 1, Math.floor(q * DRAWS))];
  return { value: figure(rounds), low: at(0.025), high: at(0.975) };
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
