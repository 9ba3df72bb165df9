// docs/results/judge.md from labelled answers: tables fitted on one set of tasks, reported on another.
import { evidenceOf, fitTable, readFeatures, scoreAnswer, wilson } from "@helm/cascade";
import { bootstrap, curveOf, gainAt, gainOf, oracle, orderBy } from "./judge-gain.mjs";

const RATES = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5];
const WINDOW = 8;

/** The page's Markdown; `fit`, `probes` and `report` are {at, rows}. */
export function judgePage({ fit, probes, report }) {
  const requests = report.rows.map((row) => ({
    id: row.id,
    row,
    pilot: row.quality.pilot,
    target: row.quality.target,
    pilotMs: row.device_ms.pilot,
    targetMs: row.device_ms.target,
  }));
  const judges = judgesOf(fit.rows, probes.rows);
  const measured = judges.map((judge) => {
    const scores = new Map(requests.map(({ row }) => [row, judge.score(row)]));
    const score = (row) => scores.get(row) ?? 1;
    const ordered = orderBy(requests, ({ row }) => score(row));
    return { ...judge, score, ordered, gain: bootstrap(ordered, gainOf) };
  });
  const best = gainOf(oracle(requests));
  return [
    "# The judge on verifiable tasks",
    "",
    "Made by `npm run results:judge`. Pilot and target of the bundled family answer tasks whose right answer is known; a judge",
    "sees the pilot's answers alone and says which requests the target should answer. All of it on a CPU, greedy answers of at",
    "most 160 tokens, float32.",
    "",
    ...sets(fit, probes, report),
    ...ends(requests),
    ...gains(measured, best, requests.length),
    ...atRates(measured[0], requests),
    ...curve(measured[0], requests),
    ...promised(measured[0], requests),
    ...reading(measured, best, requests),
    "",
  ].join("\n");
}

function judgesOf(fitRows, probeRows) {
  const fitted = (name, rows, asked) => {
    const found = fitTable(rows, asked);
    if (!found.ok) throw new Error(found.message);
    const { table } = found;
    return { name, table, asked, score: (row) => scoreAnswer(table, evidenceOf(row, asked.window)) ?? 1 };
  };
  const whole = { streaming: "buffer", window: null };
  const kinds = new Map();
  for (const { domain, quality } of fitRows) {
    const [better, all] = kinds.get(domain) ?? [0, 0];
    kinds.set(domain, [better + (quality.target > quality.pilot ? 1 : 0), all + 1]);
  }
  return [
    fitted("judge, whole answers", fitRows, { ...whole, label: "target_better" }),
    fitted(`judge, first ${WINDOW} tokens`, fitRows, {
      streaming: "window",
      window: WINDOW,
      label: "target_better",
    }),
    fitted("judge of a calibration's probes", probeRows, { ...whole, label: "target_differs" }),
    {
      name: "mean log-probability alone",
      score: (row) => -(readFeatures(evidenceOf(row, null))?.mean_logprob ?? 0),
    },
    {
      name: "the kind of task alone",
      score: ({ domain }) => {
        const [better, all] = kinds.get(domain) ?? [0, 1];
        return better / all;
      },
    },
  ];
}

function sets(fit, probes, report) {
  const shared = new Set(fit.rows.map(({ id }) => id));
  const overlap = report.rows.filter(({ id }) => shared.has(id)).length;
  const better = (rows) => rows.filter(({ quality }) => quality.target > quality.pilot).length;
  return [
    "## What was fitted on what",
    "",
    "| set | answers | label holds | collected (UTC) | from |",
    "| --- | --- | --- | --- | --- |",
    `| fit | ${fit.rows.length} | target's answer is better: ${better(fit.rows)} | ${when(fit.at)} | \`lifeboat_kv.family.fit_tasks\`: the bundled kinds and levels, drawn with another seed, none of the bundled questions |`,
    `| probes | ${probes.rows.length} at ${new Set(probes.rows.map(({ group }) => group)).size} sequences | target would answer differently: ${probes.rows.filter(({ differs }) => differs).length} | ${when(probes.at)} | the gate's and the report's probes of a calibration, as it sends them itself |`,
    `| report | ${report.rows.length} | target's answer is better: ${better(report.rows)} | ${when(report.at)} | \`corpora/bundled/tasks.jsonl\`; ${overlap} of them in the fit set |`,
    "",
    "Weights, steps and thresholds come from fit or probes. Every figure below is of the report set.",
    "",
  ];
}

function ends(requests) {
  const mean = (of) => requests.reduce((total, one) => total + of(one), 0) / requests.length;
  const [pilotMs, targetMs] = [mean(({ pilotMs }) => pilotMs), mean(({ targetMs }) => targetMs)];
  const [pilot, target] = [mean(({ pilot }) => pilot), mean(({ target }) => target)];
  const level = targetMs > pilotMs ? (targetMs - pilotMs) / targetMs : 0;
  return [
    "## Pilot only, target only",
    "",
    "| who answers | tasks solved | 95 % Wilson | device time of a request |",
    "| --- | --- | --- | --- |",
    `| pilot only | ${share(pilot)} | ${range(wilson(pilot, requests.length))} | ${ms(pilotMs)} |`,
    `| target only | ${share(target)} | ${range(wilson(target, requests.length))} | ${ms(targetMs)} |`,
    "",
    "Device time is the processor time of one thread for reading the prompt and saying the answer, alone, median of three;",
    "it does not depend on what else ran on the machine, but for caches. A kept request costs the pilot's, an escalated one",
    `both, without a transfer. Escalating ${percent(level)} at random costs as much as the target only.`,
    "",
  ];
}

function gains(measured, best, n) {
  return [
    "## Against escalating at random",
    "",
    "The gain is the mean over all escalation rates (or all device times) of the share of tasks solved, less what escalating as",
    `many at random (or for as much device time) solves. Brackets: 95 % bootstrap over the ${n} tasks, 2,000 resamples.`,
    "",
    "| order of escalation | ranks (area under ROC) | gain at the same rate | gain at the same device time | share of the oracle's gain |",
    "| --- | --- | --- | --- | --- |",
    ...measured.map(
      ({ name, ordered, gain }) =>
        `| ${name} | ${auc(ordered).toFixed(3)} | ${estimate(gain.rate)} | ${estimate(gain.device)} | ${percent(gain.rate.value / best.rate)} |`,
    ),
    `| oracle | - | ${best.rate.toFixed(3)} | ${best.device.toFixed(3)} | 100 % |`,
    "",
  ];
}

function atRates({ name, ordered }, requests) {
  return [
    `## By rate: ${name}`,
    "",
    "| escalated | solved | at random | oracle | gain at the same rate | gain at the same device time | device time |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...RATES.map((rate) => {
      const gain = bootstrap(ordered, (sample) => gainAt(sample, rate));
      const at = (order) => curveOf(order)[Math.round(rate * requests.length)];
      const own = at(ordered);
      return `| ${percent(rate)} | ${share(own.quality)} | ${share(own.quality - gain.rate.value)} | ${share(at(oracle(requests)).quality)} | ${estimate(gain.rate)} | ${estimate(gain.device)} | ${ms(own.ms)} |`;
    }),
    "",
  ];
}

function curve({ ordered }, requests) {
  const judged = curveOf(ordered);
  const perfect = curveOf(oracle(requests));
  const last = judged[judged.length - 1];
  const steps = Array.from({ length: 11 }, (_, i) => Math.round((i * requests.length) / 10));
  return [
    "## Cost and quality",
    "",
    "Each order at every tenth; device time is the mean of a request.",
    "",
    "| escalated | judge: time, solved | random: time, solved | oracle: time, solved |",
    "| --- | --- | --- | --- |",
    ...steps.map((k) => {
      const rate = k / requests.length;
      const chance = {
        ms: judged[0].ms + rate * (last.ms - judged[0].ms),
        quality: judged[0].quality + rate * (last.quality - judged[0].quality),
      };
      const cell = (point) => `${ms(point.ms)}, ${share(point.quality)}`;
      return `| ${percent(rate)} | ${cell(judged[k])} | ${cell(chance)} | ${cell(perfect[k])} |`;
    }),
    "",
  ];
}

/** What thresholds chosen on the fit set do on the report set. */
function promised({ name, table, asked }, requests) {
  const n = requests.length;
  const rows = RATES.map((rate) => {
    const point = table.curve[Math.round(100 * rate)];
    const judged = requests.map((one) => ({
      ...one,
      hard: (scoreAnswer(table, evidenceOf(one.row, asked.window)) ?? 1) >= point.threshold,
    }));
    const realised = judged.filter(({ hard }) => hard).length / n;
    const held = judged.filter(({ hard, pilot, target }) => hard || target <= pilot).length / n;
    return `| ${percent(rate)} | ${point.threshold.toFixed(3)} | ${percent(realised)} ${range(wilson(realised, n), percent)} | ${share(point.quality)} [${share(point.low)}, ${share(point.high)}] | ${share(held)} ${range(wilson(held, n))} |`;
  });
  return [
    `## Thresholds from the fit set, on the report set: ${name}`,
    "",
    `Quality is the share of requests answered no worse than by the target. The table was fitted on ${table.n} answers; held out`,
    `by fold its area under ROC is ${table.held_out.auc.toFixed(3)} and its Brier score ${table.held_out.brier.toFixed(3)}.`,
    "",
    "| rate asked for | threshold | rate on the report set | quality promised | quality on the report set |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ];
}

function reading(measured, best, requests) {
  const [whole] = measured;
  const first = measured.find(({ name }) => name.startsWith("mean"));
  const mean = (of) => requests.reduce((total, one) => total + of(one), 0) / requests.length;
  const targetMs = mean((one) => one.targetMs);
  const part = percent(mean((one) => one.pilotMs) / targetMs);
  const drawn = curveOf(whole.ordered);
  const enough = drawn.find(({ quality }) => quality >= drawn[drawn.length - 1].quality);
  const ahead = bootstrap(requests, (sample) => {
    const [own, other] = [whole, first].map(({ score }) => gainOf(orderBy(sample, ({ row }) => score(row))));
    return { rate: own.rate - other.rate, device: own.device - other.device };
  });
  const better = whole.gain.rate.low > 0 && whole.gain.device.low > 0;
  return [
    "## What it says",
    "",
    better
      ? `The judge is better than random by more than the interval, both at the same rate (${estimate(whole.gain.rate)}) and at the same device time (${estimate(whole.gain.device)}); the oracle's gain is ${best.rate.toFixed(3)}.`
      : `The judge is not better than random by more than the interval: ${estimate(whole.gain.rate)} at the same rate, ${estimate(whole.gain.device)} at the same device time.`,
    "",
    `Against the mean log-probability alone it gains ${estimate(ahead.rate)} at the same rate and ${estimate(ahead.device)} at the same`,
    "device time (paired). What it has beside that order is a probability, so that a rate or a floor can be asked for.",
    "",
    `It solves as many as the target only from ${percent(enough.rate)} escalated on, at ${ms(enough.ms)} of device time against ${ms(targetMs)}. That is`,
    `little saved: this pilot takes ${part} of its target's time, and what is escalated pays for both. A pilot that is much`,
    "smaller than its target saves more; none was measured here.",
    "",
    "These tasks come in kinds of very different difficulty, and fit and report are drawn from the same kinds: the row of the kind",
    "alone says how far that goes without looking at the answer. Traffic is not drawn so; a table is worth what the answers it was",
    "fitted on have in common with what it judges. The target was grown from the pilot, so the two differ less than two models",
    "trained apart.",
  ];
}

function auc(ordered) {
  let negativesAhead = 0;
  let positives = 0;
  let misses = 0;
  for (const { pilot, target } of ordered) {
    if (target > pilot) {
      positives++;
      misses += negativesAhead;
    } else negativesAhead++;
  }
  return 1 - misses / (positives * negativesAhead);
}

const share = (value) => value.toFixed(3);
const percent = (value) => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
const ms = (value) => `${value.toFixed(1)} ms`;
const range = ({ low, high }, format = share) => `[${format(low)}, ${format(high)}]`;
const estimate = ({ value, low, high }) => `${value.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
const when = (at) => at.slice(0, 16).replace("T", " ");
