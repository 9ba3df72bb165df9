import { readFileSync } from "node:fs";
import { Door } from "./ask.mjs";
import { median, overRounds, seeded, shuffled } from "./figures.mjs";
import { startLiteLlm } from "./litellm.mjs";

const PATH = "/v1/chat/completions";
const WARM_UP = 400;
/** What runs in Node compiles as it runs: a node in service has answered more than this. */
const WARM_UP_IN_NODE = 5_000;
const WARM_UP_AT_ONCE = 16;
const TEXT = "green rose, tree song, melon room, star drum. tree?";

const chat = (extra) => ({
  model: "pilot",
  messages: [{ role: "user", content: TEXT }],
  temperature: 0,
  ...extra,
});

/** What a door adds to one request at a time: the same request through every door by turns, in an order that is drawn. */
export async function measureOverhead(open, folder, { rounds, say }) {
  const { doors, pids } = open;
  let litellm = null;
  let without = null;
  try {
    say("a LiteLLM proxy in front of the same engine (its environment is made the first time)");
    litellm = await startLiteLlm(open.pipe, folder, ["pilot", "target"]);
    doors.litellm = new Door({ origin: litellm.origin, key: litellm.key });
  } catch (error) {
    without = error.message;
    say(`LiteLLM cannot be measured here: ${without}`);
  }
  try {
    const names = Object.keys(doors);
    const random = seeded(11);
    const body = chat({ max_tokens: 1 });
    const warmUp = (name) => Math.min(name in pids ? WARM_UP_IN_NODE : WARM_UP, 10 * rounds);
    for (const name of names) {
      say(`${warmUp(name)} requests through ${name} that are not counted`);
      await askTimes(doors[name], body, warmUp(name));
    }
    const cpu = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)]));
    const times = [];
    for (let i = 0; i < rounds; i++) {
      const round = {};
      for (const name of shuffled(names, random)) round[name] = (await doors[name].ask(PATH, body)).totalMs;
      times.push(round);
    }
    const spent = Object.fromEntries(
      Object.entries(pids).map(([name, pid]) => {
        const now = cpuMs(pid);
        return [name, now === null ? null : (now - cpu[name]) / rounds];
      }),
    );
    const added = (name, base) =>
      overRounds(
        times,
        (drawn) => median(drawn.map((one) => one[name])) - median(drawn.map((one) => one[base])),
      );
    const alone = (name) => overRounds(times, (drawn) => median(drawn.map((one) => one[name])));
    return {
      rounds,
      warmUp: warmUp("gateway"),
      engine: alone("engine"),
      gateway: { total: alone("gateway"), added: added("gateway", "engine") },
      proxy: { total: alone("proxy"), added: added("proxy", "engine") },
      litellm: litellm && { total: alone("litellm"), added: added("litellm", "pipe") },
      share:
        litellm &&
        overRounds(
          times,
          (drawn) =>
            (median(drawn.map((one) => one.gateway)) - median(drawn.map((one) => one.engine))) /
            (median(drawn.map((one) => one.litellm)) - median(drawn.map((one) => one.pipe))),
        ),
      cpu: spent,
      without,
    };
  } finally {
    await doors.litellm?.close();
    delete doors.litellm;
    litellm?.stop();
  }
}

async function askTimes(door, body, times) {
  let left = times;
  const one = async () => {
    while (left-- > 0) await door.ask(PATH, body);
  };
  await Promise.all(Array.from({ length: WARM_UP_AT_ONCE }, one));
}

/** Answer tokens a second at `concurrency`, in segments by turns: streams, read to their end. */
export async function measureThroughput(open, { concurrency, segments, seconds, say }) {
  const { doors } = open;
  const rates = [];
  for (let segment = 0; segment <= segments; segment++) {
    const rate = {};
    for (const name of segment % 2 === 0 ? ["engine", "gateway"] : ["gateway", "engine"])
      rate[name] = await rateOf(doors[name], concurrency, seconds);
    // The first warms up and is not counted.
    if (segment > 0) rates.push(rate);
    say(
      `segment ${segment} of ${segments} at ${concurrency}: ${rate.engine.toFixed(0)} and ${rate.gateway.toFixed(0)} tokens/s`,
    );
  }
  const of = (name) => overRounds(rates, (drawn) => median(drawn.map((one) => one[name])));
  return {
    concurrency,
    segments,
    seconds,
    engine: of("engine"),
    gateway: of("gateway"),
    ratio: overRounds(rates, (drawn) => median(drawn.map((one) => one.gateway / one.engine))),
  };
}

async function rateOf(door, concurrency, seconds) {
  const from = performance.now();
  const until = from + seconds * 1_000;
  const tokens = 24;
  let done = 0;
  const one = async () => {
    while (performance.now() < until) {
      const { text } = await door.ask(PATH, chat({ max_tokens: tokens, ignore_eos: true, stream: true }));
      if (!text.includes("[DONE]")) throw new Error("a stream ended without its end mark");
      done += text.split('"finish_reason"').length - 2;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return done / ((performance.now() - from) / 1_000);
}

/** Processor time of a process so far; null where the system does not tell it this way. */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}
