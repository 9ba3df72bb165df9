import { mean, overRounds } from "./figures.mjs";
import { burst } from "./load.mjs";
import { cpuSeconds, residentBytes } from "./processes.mjs";

/**
 * The same burst through the gateway and straight to the engine, by turns; who goes first alternates. What slows a whole round
 * down is in both of its bursts: the ratio is one of each round, and its interval that of the rounds' ratios.
 */
export async function besideEngine(doors, pids, { load, rounds, say }) {
  const done = [];
  for (let n = 0; n < rounds; n++) {
    const round = {};
    for (const name of n % 2 === 0 ? ["gateway", "engine"] : ["engine", "gateway"]) {
      round[name] = await measured(doors[name], pids, load);
      say(`round ${n + 1}, ${name}: ${burstWords(round[name], load.clients)}`);
    }
    say(`round ${n + 1}: ratio ${ratioOf(round).toFixed(3)}`);
    done.push(round);
  }
  const rate = (name) => overRounds(done, (drawn) => mean(drawn.map((round) => round[name].rate)));
  const cpu = (name, who) => mean(done.map((round) => round[name].cpu[who]));
  const bytes = (who) => done.map((round) => round.gateway[who]);
  return {
    rounds: done.length,
    clients: load.clients,
    answers: sum(done.map((round) => round.gateway)),
    direct: sum(done.map((round) => round.engine)),
    gateway: rate("gateway"),
    engine: rate("engine"),
    ratios: done.map(ratioOf),
    ratio: overRounds(done, (drawn) => mean(drawn.map(ratioOf))),
    troubles: done.flatMap((round, n) =>
      ["gateway", "engine"].flatMap((name) => troublesOf(round[name], load.clients, n + 1, name)),
    ),
    cpu: {
      gateway: cpu("gateway", "gateway"),
      engineBehind: cpu("gateway", "engine"),
      engineAlone: cpu("engine", "engine"),
      generator: cpu("gateway", "generator"),
      generatorAlone: cpu("engine", "generator"),
    },
    memory: { gateway: bytes("gatewayBytes"), engine: bytes("engineBytes") },
  };
}

async function measured(door, pids, load) {
  const before = spent(pids);
  const result = await burst(door, load);
  const after = spent(pids);
  const cpu = Object.fromEntries(Object.keys(after).map((who) => [who, after[who] - before[who]]));
  const gatewayBytes = residentBytes(pids.gateway);
  return { ...result, cpu, gatewayBytes, engineBytes: residentBytes(pids.engine) };
}

const ratioOf = (round) => round.gateway.rate / round.engine.rate;

/** What a burst came to, with what it cost. */
function burstWords(result, clients) {
  const { cpu } = result;
  const spentWords = ["gateway", "engine", "generator"].map((who) => `${who} ${cpu[who].toFixed(1)}`);
  return (
    `${result.correct} of ${clients} correct in ${result.seconds.toFixed(1)} s, ${result.rate.toFixed(1)}/s${wordsOf(result)}; ` +
    `CPU s: ${spentWords.join(", ")}; MiB: gateway ${mib(result.gatewayBytes)}, engine ${mib(result.engineBytes)}`
  );
}

function troublesOf(result, clients, number, name) {
  if (result.correct === clients) return [];
  return [
    `round ${number}, ${name}: ${clients - result.correct} of ${clients} not answered${wordsOf(result)}`,
  ];
}

const mib = (bytes) => (bytes === null ? "?" : (bytes / 1024 ** 2).toFixed(1));

function spent(pids) {
  const { user, system } = process.cpuUsage();
  return {
    gateway: cpuSeconds(pids.gateway),
    engine: cpuSeconds(pids.engine),
    generator: (user + system) / 1e6,
  };
}

function sum(results) {
  const all = { correct: 0, corrupted: 0, refused: 0, failed: 0 };
  for (const result of results) for (const kind of Object.keys(all)) all[kind] += result[kind];
  return all;
}

export function wordsOf({ whys }) {
  return whys.size === 0 ? "" : ` (${[...whys].map(([why, times]) => `${times} ${why}`).join(", ")})`;
}
