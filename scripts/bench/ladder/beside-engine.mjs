import { mean, overRounds } from "./figures.mjs";
import { burst } from "./load.mjs";
import { cpuSeconds, residentBytes } from "./processes.mjs";

/** The same burst through the gateway and straight to the engine, by turns. */
export async function besideEngine(doors, pids, { load, rounds, say }) {
  const done = [];
  for (let n = 0; n < rounds; n++) {
    const round = {};
    for (const name of n % 2 === 0 ? ["gateway", "engine"] : ["engine", "gateway"]) {
      const before = spent(pids);
      const result = await burst(doors[name], load);
      const after = spent(pids);
      const cpu = Object.fromEntries(Object.keys(after).map((who) => [who, after[who] - before[who]]));
      round[name] = {
        ...result,
        cpu,
        gatewayBytes: residentBytes(pids.gateway),
        engineBytes: residentBytes(pids.engine),
      };
      say(
        `${name}: ${result.correct} of ${load.clients} correct, ${result.rate.toFixed(1)}/s${wordsOf(result)}`,
      );
    }
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
    ratio: overRounds(
      done,
      (drawn) =>
        mean(drawn.map((round) => round.gateway.rate)) / mean(drawn.map((round) => round.engine.rate)),
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
