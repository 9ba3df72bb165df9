// What escalating by one order of requests brings against escalating as many at random. Pure.

/** Numbers in [0, 1) that follow from the seed. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Quality and device time by how many requests are escalated, from none to all, in the order given. `requests` are
 * {pilot, target} of quality and {pilotMs, targetMs}; a kept one costs the pilot, an escalated one both.
 */
export function curveOf(requests) {
  const n = requests.length;
  let quality = sum(requests, ({ pilot }) => pilot) / n;
  let ms = sum(requests, ({ pilotMs }) => pilotMs) / n;
  const points = [{ rate: 0, quality, ms }];
  requests.forEach(({ pilot, target, targetMs }, i) => {
    quality += (target - pilot) / n;
    ms += targetMs / n;
    points.push({ rate: (i + 1) / n, quality, ms });
  });
  return points;
}

/** Mean gain over random escalation: `rate` at the same share of requests, `device` at the same device time. */
export function gainOf(requests) {
  const curve = curveOf(requests);
  const first = curve[0];
  const last = curve[curve.length - 1];
  const rise = last.quality - first.quality;
  const spent = last.ms - first.ms;
  const overRate = curve.map(({ rate, quality }) => quality - (first.quality + rise * rate));
  const overTime = curve.map(
    ({ ms, quality }) => quality - (first.quality + (rise * (ms - first.ms)) / spent),
  );
  return {
    rate: area(
      curve.map(({ rate }) => rate),
      overRate,
    ),
    device: area(
      curve.map(({ ms }) => (ms - first.ms) / spent),
      overTime,
    ),
  };
}

/** Gain at one share of requests, as `gainOf` counts it. */
export function gainAt(requests, rate) {
  const curve = curveOf(requests);
  const [first, last] = [curve[0], curve[curve.length - 1]];
  const point = curve[Math.round(rate * requests.length)];
  const rise = last.quality - first.quality;
  return {
    rate: point.quality - (first.quality + rise * point.rate),
    device: point.quality - (first.quality + (rise * (point.ms - first.ms)) / (last.ms - first.ms)),
  };
}

/** Percentile bootstrap over requests: `ordered` keeps its order in every sample. {value, low, high} of each field. */
export function bootstrap(ordered, statistic, { resamples = 2_000, seed = 1 } = {}) {
  const random = randomFrom(seed);
  const samples = [];
  for (let b = 0; b < resamples; b++) {
    const drawn = Array.from(ordered, () => Math.floor(random() * ordered.length)).sort((a, b) => a - b);
    samples.push(statistic(drawn.map((i) => ordered[i])));
  }
  const value = statistic(ordered);
  return Object.fromEntries(
    Object.keys(value).map((field) => {
      const sorted = samples.map((sample) => sample[field]).sort((a, b) => a - b);
      const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
      return [field, { value: value[field], low: at(0.025), high: at(0.975) }];
    }),
  );
}

/** Hardest first. Equal scores keep no order that could know the answer: by id. */
export function orderBy(requests, scoreOf) {
  return [...requests].sort((a, b) => scoreOf(b) - scoreOf(a) || (a.id < b.id ? -1 : 1));
}

/** What nobody can know: those first whom the target helps, the cheapest of them first. */
export function oracle(requests) {
  return [...requests].sort((a, b) => b.target - b.pilot - (a.target - a.pilot) || a.targetMs - b.targetMs);
}

function area(x, y) {
  let total = 0;
  for (let i = 1; i < x.length; i++) total += ((x[i] - x[i - 1]) * (y[i] + y[i - 1])) / 2;
  return total;
}

function sum(values, of) {
  return values.reduce((total, one) => total + of(one), 0);
}
