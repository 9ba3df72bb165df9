// docs/results/bundled-pair.md from the steps' records. Every number is taken from an event or computed by packages/pairing.
import { assess, longLeftOut, thresholdsOf } from "@helm/pairing";

const CALIBRATIONS = {
  up: "pilot -> target",
  down: "target -> pilot",
  "control-pilot": "pilot -> pilot (control)",
  "control-target": "target -> target (control)",
};
const ARMS = [
  "identity",
  "self_map",
  "plain_ridge",
  "pilot_alone",
  "no_rerotation",
  "zero_cache",
  "other_sequence",
  "shuffled_heads",
];
const AIM = { seconds: 180, mib: 2048 };

/** The page's Markdown; `steps` holds what step.mjs recorded, by name. */
export function bundledPage(steps) {
  const calibrated = Object.keys(CALIBRATIONS).filter((name) => steps[name]);
  const judged = Object.fromEntries(calibrated.map((name) => [name, judge(steps, name)]));
  const missing = Object.keys(steps).filter((name) => steps[name] === null);
  return [
    "# The bundled pair, measured",
    "",
    "Made by `npm run results:bundled` (single steps: `npm run results:bundled -- up down`). Each step ran by itself;",
    "the float32 GEMM rate (4,096 cubed, all threads, best of five) was measured right before it. Where other programs",
    "used the machine at the same time, that rate is low and the times are long. All runs are on a CPU, development mode.",
    "",
    ...(missing.length > 0 ? [`Steps that did not run: ${missing.join(", ")}.`, ""] : []),
    ...timing(steps),
    ...scores(judged),
    ...arms(judged),
    ...splits(judged),
    ...long(judged),
    ...(steps.drift ? drift(steps.drift) : []),
    ...cost(steps.cost, steps.up),
    "",
  ].join("\n");
}

/** The verdict on a calibration's counts, those of its far rows added where they were scored by a step of their own. */
function judge(steps, name) {
  const { events } = steps[name];
  const one = (type) => events.find((event) => event.type === type);
  const started = one("started");
  const result = one("result");
  const counts = {};
  const far = name === "up" || name === "down" ? (steps[`far-${name}`]?.events ?? []) : [];
  for (const event of [...events, ...far])
    if (event.type === "counts") counts[event.arm] = [...(counts[event.arm] ?? []), ...event.sequences];
  const assessment = assess({
    counts,
    gate: 0.9,
    gateOn: "lower",
    control: name.startsWith("control"),
    method: started.method,
    dtype: "float32",
    kvCosine: result.scores.kv_cosine,
    thresholds: thresholdsOf(result.manifest),
    longLeftOut: longLeftOut(result.manifest),
  });
  return { assessment, started, result };
}

function timing(steps) {
  const ran = Object.entries(steps).filter(([, step]) => step !== null);
  const rows = ran.map(([name, step]) => [
    name,
    step.date.slice(0, 16).replace("T", " "),
    `${step.seconds.toFixed(0)} s`,
    `${step.processor_seconds.toFixed(0)} s`,
    `${step.peak_mib.toFixed(0)} MiB`,
    `${(step.machine.gemm / 1e9).toFixed(0)} GFLOP/s`,
  ]);
  const { machine, seconds, peak_mib: peak } = steps.up;
  return [
    "## Time and memory",
    "",
    `Machine: ${machine.processor}, ${machine.cores} cores, ${machine.threads} threads.`,
    "",
    ...table(["step", "began (UTC)", "time", "processor time", "peak memory", "GEMM before it"], rows),
    "",
    `The calibration pilot -> target with the corpus's defaults, without \`--long\` (rows at 4 times the fitted length and ` +
      `the cost table included), took ${seconds.toFixed(0)} s and ${peak.toFixed(0)} MiB; the aim is about ` +
      `${AIM.seconds} s and ${AIM.mib.toLocaleString("en")} MiB on two cores. It had ` +
      `${(steps.up.processor_seconds / steps.up.seconds).toFixed(2)} of the two cores on average.`,
    "",
    ...table(
      ["stage of pilot -> target", "time"],
      stages(steps.up).map(([stage, s]) => [stage, `${s.toFixed(1)} s`]),
    ),
    "",
    ...(steps["memory-1"] && steps["memory-8"] ? memory(steps) : []),
  ];
}

function memory(steps) {
  const rows = ["memory-1", "memory-8"].map((name) => {
    const found = steps[name].events.find((event) => event.type === "metric" && event.name === "fit_memory");
    const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    return [
      `${found.sequences}`,
      found.tokens.toLocaleString("en"),
      mib(found.before_bytes),
      mib(found.peak_bytes),
    ];
  });
  return [
    "Memory of the fit by the length of its corpus, each in a process of its own (largest resident size with both models " +
      "and the corpus loaded, and after capture and fit):",
    "",
    ...table(["fit sequences", "tokens", "before", "after"], rows),
    "",
  ];
}

/** [stage, seconds], from the time of one stage event to the next. */
function stages({ events }) {
  const marks = events.filter((event) => event.type === "stage");
  const end = events.at(-1).at;
  const counted = (split) => events.filter((e) => e.type === "counts" && e.sequences[0]?.split === split);
  const [report, far] = [counted("report").at(-1), counted("long")[0]];
  const seconds = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;
  const found = marks.map(({ stage, at }, i) => [stage, seconds(at, marks[i + 1]?.at ?? end)]);
  if (report && far) found.push(["of the score: rows at 4 times", seconds(report.at, far.at)]);
  return found;
}

function scores(judged) {
  const rows = Object.entries(judged).map(([name, { assessment: a, started, result }]) => [
    CALIBRATIONS[name],
    `${started.method}, k=${started.k}`,
    a.verdict ?? a.failure?.code ?? "none",
    interval({ ...a.retention, retention: a.retention.value }),
    buckets(a.retention.buckets),
    a.prefix_gain?.toFixed(3) ?? "none",
    a.report ? interval(a.report) : "none",
    `${result.scores.kl.toFixed(4)} / ${result.scores.kl_p95.toFixed(3)}`,
    `${result.scores.kv_cosine.k.toFixed(3)} / ${result.scores.kv_cosine.v.toFixed(3)}`,
    a.warnings.join(", ") || "none",
  ]);
  const { corpus, versions } = judged.up.started;
  const down = judged.down.assessment;
  const clears =
    down.verdict === "CLEARED"
      ? "The reverse direction clears the gate as well: the target was grown from the pilot and held linearly explainable " +
        "during a part of its training (decisions 0001 and 0050), so this family shows what a transfer does, not how hard " +
        "it is between models trained apart. Published pairs of models trained apart score lower."
      : "The reverse direction does not clear the gate.";
  return [
    "## Both directions and the controls",
    "",
    `Corpus ${corpus.name}, ${corpus.seq_len} tokens, splits fit ${corpus.fit}, select ${corpus.select}, gate ${corpus.gate}, ` +
      `report ${corpus.report}; gate 0.9 on the lower bound; 95 % intervals by bootstrap over sequences. Torch ` +
      `${versions.torch}, transformers ${versions.transformers}. A control is a model with itself.`,
    "",
    ...table(
      [
        "pair",
        "method",
        "verdict",
        "retention",
        "1 / 2-16 / 17-64",
        "prefix gain",
        "report split",
        "KL mean / p95, nats",
        "KV cosine K / V",
        "warnings",
      ],
      rows,
    ),
    "",
    clears,
    "",
    ...beside(judged),
  ];
}

function beside(judged) {
  return ["up", "down"].flatMap((name) => {
    const { net_rescue: rescue, gold_gain: gold } = judged[name].assessment;
    if (!rescue || !gold) return [];
    return [
      `${CALIBRATIONS[name]} against its source alone: net rescue ${estimate(rescue)} of all positions, gold likelihood ` +
        `${estimate(gold)} nats a sequence.`,
      "",
    ];
  });
}

function arms(judged) {
  const names = Object.keys(judged);
  const rows = ["mapper", ...ARMS].map((arm) => [
    arm,
    ...names.map((name) => {
      const { assessment, result } = judged[name];
      const score =
        arm === "mapper"
          ? { ...assessment.retention, retention: assessment.retention.value }
          : assessment.arms[arm];
      const kl = result.scores.kl_by_arm?.[arm];
      return score ? `${interval(score)}${kl === undefined ? "" : `, KL ${kl.toFixed(3)}`}` : "none";
    }),
  ]);
  return ["## Arms", "", ...table(["arm", ...names.map((name) => CALIBRATIONS[name])], rows), ""];
}

function splits(judged) {
  const names = ["up", "down"];
  const rows = ["by_prefix", "by_domain"].flatMap((key) => {
    const labels = Object.keys(judged.up.assessment[key] ?? {});
    return labels.map((label) => [
      key === "by_prefix" ? `${label} tokens before the hand-over` : label,
      ...names.map((name) => {
        const score = judged[name].assessment[key]?.[label];
        return score ? `${interval(score)}, ${score.n} texts` : "none";
      }),
    ]);
  });
  const heads = names.map((name) => CALIBRATIONS[name]);
  return ["## By length of the prefix and by domain", "", ...table(["", ...heads], rows), ""];
}

function long(judged) {
  const rows = ["up", "down"].flatMap((name) =>
    (judged[name].assessment.long ?? []).map((row) => [
      CALIBRATIONS[name],
      `${row.multiple} times`,
      ...["mapper", "identity", "zero_cache"].map((arm) =>
        row.arms[arm] ? `${interval(row.arms[arm])}` : (row.left_out ?? "none"),
      ),
      row.arms.mapper ? `${row.arms.mapper.n}` : "0",
      row.arms.mapper ? buckets(row.arms.mapper.buckets) : "none",
    ]),
  );
  return [
    "## Beyond the fitted length",
    "",
    "Texts of their own, never part of the gate's number. Prefixes begin at the multiple of 512 tokens.",
    "",
    ...table(
      ["pair", "prefixes", "mapper", "identity", "zero cache", "texts", "mapper: 1 / 2-16 / 17-64"],
      rows,
    ),
    "",
  ];
}

function drift({ events }) {
  const by = Object.fromEntries(
    events.filter((e) => e.type === "metric" && e.name === "drift").map((e) => [e.carry, e.turns]),
  );
  const rows = by.new.map((turn, i) => [
    `${turn.turn}`,
    turn.direction,
    turn.retention.toFixed(4),
    by.all[i].retention.toFixed(4),
    `${turn.positions}`,
  ]);
  return [
    "## Drift over ten alternating turns",
    "",
    `${by.new[0].n} chats of the corpus's probes; the target answers at odd turns (up), the pilot at even ones (down), each ` +
      "from the cache the other held. New rows only: as a served conversation, where a node keeps what it already has. All " +
      "rows: the whole conversation is mapped anew at every switch, rows mapped before included. Retention is against the " +
      "answering model's own reading of the same conversation. No intervals: turns of one chat hang together.",
    "",
    ...table(["turn", "direction", "new rows only", "all rows", "positions"], rows),
    "",
  ];
}

function cost(step, up) {
  const made = up.events.find((event) => event.type === "result");
  const own = step?.events.find((event) => event.type === "metric" && event.name === "cost");
  const { rows, min_tokens: least } = own ?? { rows: made.cost, min_tokens: made.manifest.min_tokens };
  const ms = (value) => (value === null || value === undefined ? "" : value.toFixed(value < 100 ? 1 : 0));
  const measured = rows.map((row) =>
    row.left_out
      ? [row.tokens.toLocaleString("en"), `left out: ${row.left_out}`, ...Array(8).fill("")]
      : [
          row.tokens.toLocaleString("en"),
          ms(row.pilot_prefill_ms),
          ms(row.target_prefill_ms),
          ms(row.map_ms),
          ms(row.move_ms),
          ms(row.tail_ms),
          ms(row.transfer_ms),
          ms(row.direct_target_ms),
          ms(row.escalated_with_transfer_ms),
          ms(row.escalated_without_transfer_ms),
        ],
  );
  const decision = rows.find((row) => row.decision_tokens)?.decision_tokens;
  const left = made.cost
    .filter((row) => row.left_out)
    .map((row) => `${row.tokens.toLocaleString("en")} (${row.left_out})`);
  return [
    "## Cost, pilot -> target",
    "",
    "Milliseconds, medians after a warm-up, batch of one, nothing cached before. Map and move apart; transfer is map, move and",
    `the target's exact tail. The three whole paths end with the target's first token; the escalated ones hold the pilot's ` +
      `prefill and its decode of ${decision} tokens.`,
    "",
    ...table(
      [
        "tokens",
        "pilot prefill",
        "target prefill",
        "map",
        "move",
        "tail",
        "transfer",
        "path: target directly",
        "path: escalated with transfer",
        "path: escalated without",
      ],
      measured,
    ),
    "",
    `Given that the pilot has answered, a transfer beats the target's prefill ${least === null ? "at no measured length" : `from ${least} tokens on`}. ` +
      "No ratio here is a speed-up of generation.",
    "",
    own === undefined
      ? "These are the calibration's own points, 10 s each at most; the step cost, with 60 s a point, did not run."
      : left.length > 0
        ? `Points here had 60 s each. The calibration itself gives a point 10 s and left out ${left.join("; ")}.`
        : "The calibration itself, with 10 s a point, left out none of these.",
  ];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

const interval = ({ retention, low, high }) =>
  `${retention.toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}]`;
const estimate = ({ value, low, high }) => `${value.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
const buckets = ({ first, early, late }) => [first, early, late].map((share) => share.toFixed(3)).join(" / ");
