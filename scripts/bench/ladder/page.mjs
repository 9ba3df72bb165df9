import { cpus, totalmem } from "node:os";
import { LITELLM } from "../serving/litellm.mjs";
import { addedBytes } from "./footprint.mjs";
import { footprintOf } from "./footprint-page.mjs";

const MIB = 1 << 20;
const AIM = { ofEngine: 0.95, burst: 40, short: 40, mixed: 10, secondMib: 512, growMib: 256 };

/** What was wanted before anything was measured. */
export const TARGETS = [
  { what: "every one of the last rung's and the bursts' requests answered correctly", target: "all" },
  {
    what: "the engine's own completions a second, through the gateway",
    target: `at least ${100 * AIM.ofEngine} %`,
  },
  { what: "burst", target: `${AIM.burst} correct answers/s` },
  { what: "short requests, sustained", target: `${AIM.short} correct answers/s` },
  { what: "short and long requests mixed", target: `${AIM.mixed} correct answers/s` },
  {
    what: "the second model's whole footprint, in the one engine and as an engine of its own",
    target: `${AIM.secondMib} MiB`,
  },
  {
    what: "gateway and engine grow between the first and the last burst by less than",
    target: `${AIM.growMib} MiB`,
  },
];

/** Of the parts that ran. */
export function aimsOf(measured) {
  return [
    ...(measured.ladder ? wideAims(measured) : []),
    ...(measured.second ? secondAims(measured.second) : []),
    ...(measured.tight ? tightAims(measured.tight) : []),
  ];
}

const aim = (what, figure, met) => ({ what, figure, met });

function secondAims(second) {
  const added = addedBytes(second);
  const fits = (bytes) => bytes <= AIM.secondMib * MIB;
  return [
    aim(
      `the second model in the one engine: ${AIM.secondMib} MiB more than the pilot alone, under the same load and its own`,
      `${mib(added.inside)} MiB`,
      fits(added.inside),
    ),
    aim(
      `the second model as an engine of its own: ${AIM.secondMib} MiB, the whole process`,
      `${mib(second.second.rss)} MiB resident, ${mib(added.beside)} MiB more than the first engine alone`,
      fits(second.second.rss),
    ),
  ];
}

function tightAims(tight) {
  const promised = tight.longs.refusals.filter(({ ticket }) => ticket !== null).length;
  const { shorts, longs } = tight;
  return [
    aim(
      "small budget: short requests keep flowing, none refused, failed or corrupted",
      `${shorts.rate.toFixed(1)}/s (${countsOf(shorts)})`,
      shorts.correct > 0 && shorts.refused + shorts.failed + shorts.corrupted === 0,
    ),
    aim(
      "small budget: long requests are refused with a number, and with their ticket what was promised fits",
      `${longs.completed} answered, ${longs.refusals.length} refused, ${promised} with a ticket, ${longs.broken} of those refused again, ${longs.failed} failed`,
      longs.completed > 1 && promised > 0 && longs.broken + longs.failed === 0,
    ),
  ];
}

function wideAims({ ladder, beside, auto, short, mixed, clients }) {
  const last = ladder.rungs.at(-1);
  const grown = ["gateway", "engine"].map(
    (who) => Math.max(0, beside.memory[who].at(-1) - beside.memory[who][0]) / MIB,
  );
  return [
    aim(
      `${clients.toLocaleString("en")} clients on the ladder's last rung: none failed, refused or corrupted`,
      countsOf(last),
      last.clients === clients && last.correct === last.requests,
    ),
    aim(
      `${beside.rounds} bursts of ${clients.toLocaleString("en")} through the gateway: none failed, refused or corrupted`,
      countsOf(beside.answers),
      beside.answers.correct === beside.rounds * clients,
    ),
    aim(
      `at least ${100 * AIM.ofEngine} % of the engine's own completions a second`,
      interval(beside.ratio, 3),
      beside.ratio.value >= AIM.ofEngine,
    ),
    aim(`burst: ${AIM.burst}/s`, `${interval(beside.gateway, 1)}/s`, beside.gateway.value >= AIM.burst),
    aim(
      "burst through helm-auto: every request answered correctly",
      countsOf(auto),
      auto.correct === clients,
    ),
    aim(
      `short, sustained: ${AIM.short}/s`,
      `${short.rate.toFixed(1)}/s (${countsOf(short)})`,
      short.rate >= AIM.short,
    ),
    aim(`mixed: ${AIM.mixed}/s`, `${mixed.rate.toFixed(1)}/s (${countsOf(mixed)})`, mixed.rate >= AIM.mixed),
    aim(
      `gateway and engine grow by less than ${AIM.growMib} MiB over the bursts`,
      `${grown.map((value) => value.toFixed(0)).join(" and ")} MiB`,
      grown.every((value) => value < AIM.growMib),
    ),
  ];
}

export function textOf(aims) {
  return aims.map(({ what, figure, met }) => `${met ? "met    " : "NOT MET"}  ${what}: ${figure}\n`).join("");
}

export function pageOf(measured, aims) {
  const { ladder, beside, auto, memory, memoryAfter, tight, load, maxTokens } = measured;
  return `# Ladder

Made by \`npm run bench:ladder -- --write\`: the running product (control plane, worker, node and reference engine with the bundled pair), on
loopback. Clients, gateway and engine share the cores below. An answer counts only when it is complete and word for word what the model
says when it is asked alone. Answers are streamed, of at most ${maxTokens} tokens; in brackets 95 % intervals, by drawing whole rounds again.

Machine: ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${(totalmem() / 1024 ** 3).toFixed(0)} GiB, Node ${process.versions.node}. Load: ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after${load.before > cpus().length / 2 ? ": it was busy with other things, so rates are lower than they would be alone" : ""}.

## Targets, written down before the run

| target | reached | |
| --- | --- | --- |
${aims.map(({ what, figure, met }) => `| ${what} | ${figure} | ${met ? "met" : "**not met**"} |`).join("\n")}

## The ladder (\`lifeboat helm ladder --model pilot --to ${measured.clients}\`)

| clients | requests | correct | refused | failed | corrupted | correct/s | first token p50, p95 (ms) | gateway's memory (MiB) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${ladder.rungs.map(rungRow).join("\n")}

## A burst beside the engine itself

${beside.rounds} times ${measured.clients.toLocaleString("en")} clients with one request each, the pilot named, by turns through the gateway and straight to the engine's socket.

| | through the gateway | straight to the engine |
| --- | --- | --- |
| correct answers/s | ${interval(beside.gateway, 1)} | ${interval(beside.engine, 1)} |
| answers | ${countsOf(beside.answers)} | ${countsOf(beside.direct)} |
| CPU seconds of the gateway | ${beside.cpu.gateway.toFixed(1)} | |
| of the engine | ${beside.cpu.engineBehind.toFixed(1)} | ${beside.cpu.engineAlone.toFixed(1)} |
| of the load generator | ${beside.cpu.generator.toFixed(1)} | ${beside.cpu.generatorAlone.toFixed(1)} |
| gateway's memory after each burst (MiB) | ${beside.memory.gateway.map(mib).join(", ")} | |
| engine's memory after each burst (MiB) | ${beside.memory.engine.map(mib).join(", ")} | |

Ratio, the mean of the rounds' own: ${interval(beside.ratio, 3)}, of ${beside.ratios.map((ratio) => ratio.toFixed(3)).join(", ")}. What slows a whole round down is in
both of its bursts. Through \`helm-auto\`, where the judge reads every answer: ${auto.rate.toFixed(1)}/s, ${countsOf(auto)}, answered by ${[...auto.served].map(([who, times]) => `${who} ${times}`).join(", ")}.

${liteLlmLine(measured.litellm)}

${footprintOf(measured.second, memory, memoryAfter)}

## A budget too small for two long requests

Of ${mib(tight.budget)} MiB of cache a long request needs ${mib(neededOf(tight))}; two clients send one after another, eight send short ones all the time, for ${tight.seconds} s. Requests
may wait 500 ms for their turn; a long one that is refused comes back with its ticket when the refusal said. Two long requests do not fit;
what one leaves holds the eight short ones together. With 3,000 tokens it holds five: nothing is left idle
(\`packages/admission/src/short-budget.test.ts\`), but while a long prompt is read those five take longer than the 500 ms that the others may wait.

| | answered | refused | rate (/s) |
| --- | --- | --- | --- |
| short | ${tight.shorts.correct} | ${tight.shorts.refused} | ${tight.shorts.rate.toFixed(1)} |
| long | ${tight.longs.completed} | ${tight.longs.refusals.length} | ${(tight.longs.completed / tight.seconds).toFixed(2)} |

${gapOf(tight)}
`;
}

function liteLlmLine({ clients, without, ...found }) {
  if (without !== undefined)
    return `A LiteLLM proxy in front of the same engine could not be measured: ${without.split("\n")[0]}`;
  return `${clients} clients through a LiteLLM ${LITELLM} proxy in front of the same engine: ${found.rate.toFixed(1)}/s, ${countsOf(found)}.`;
}

function gapOf({ budget, longs }) {
  const worst = longs.refusals.toSorted((a, b) => b.shortfall_bytes - a.shortfall_bytes)[0];
  if (!worst) return "No long request was refused.";
  const {
    needed_bytes: needed,
    available_bytes: free,
    shortfall_bytes: short,
    retry_after_ms: retry,
  } = worst;
  return `The gap: the largest refusal named ${mib(needed)} MiB needed, ${mib(free)} MiB free and ${mib(short)} MiB missing, to come again in ${retry} ms. The
other ${mib(budget - free)} MiB of the budget were promised: to the long request that ran, all ${mib(needed)} MiB of it until its end, since a started
request is never evicted, and to short ones beside it. Two at a time would take ${mib(2 * needed)} MiB, ${mib(2 * needed - budget)} MiB more than there
are: so long requests run one after another, and their rate is that of one. ${longs.kept} were answered on a ticket, ${longs.broken} were refused in
spite of one.`;
}

const neededOf = ({ longs }) => longs.refusals[0]?.needed_bytes ?? 0;
const mib = (bytes) => (bytes / MIB).toFixed(1);
const interval = ({ value, low, high }, digits) =>
  `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
const countsOf = ({ correct, refused, failed, corrupted }) =>
  `${correct} correct, ${refused} refused, ${failed} failed, ${corrupted} corrupted`;

function rungRow(rung) {
  const first = rung.first_token_ms;
  const cells = [
    rung.clients,
    rung.requests,
    rung.correct,
    rung.refused,
    rung.failed,
    rung.corrupted,
    (rung.correct / rung.seconds).toFixed(1),
    first ? `${first.p50.toFixed(0)}, ${first.p95.toFixed(0)}` : "-",
    rung.memory_bytes === null ? "-" : mib(rung.memory_bytes),
  ];
  return `| ${cells.join(" | ")} |`;
}
