// Answers a second with admission and without it, by turns, before one real engine. Prints Markdown.
import { AdmissionGate } from "@helm/admission";
import { Pool } from "undici";
import { startRealEngine } from "./real-engine";
import { startTestGateway, type TestGateway, testKey } from "./test-gateway";

const AIM = 0.97;
const CLIENTS = 96;
const ROUNDS = 10;
const SEGMENT_MS = 4_000;
const BODY = JSON.stringify({
  model: "pilot",
  messages: [{ role: "user", content: "green rose, tree song, melon room, star drum. tree?" }],
  max_tokens: 16,
  ignore_eos: true,
  temperature: 0,
});

const real = await startRealEngine();
const gated = await startTestGateway({ socketPath: real.socketPath }, { maxWaiting: 4_096 });
const open = await startTestGateway({ socketPath: real.socketPath });
letEverythingIn(open);
const doors = { gated: doorOf(gated), open: doorOf(open) };
try {
  for (const door of Object.values(doors)) await segment(door);
  const rounds: { gated: number; open: number }[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    const round = { gated: 0, open: 0 };
    for (const name of n % 2 === 0 ? (["gated", "open"] as const) : (["open", "gated"] as const))
      round[name] = await segment(doors[name]);
    rounds.push(round);
  }
  report(rounds);
} finally {
  for (const door of Object.values(doors)) await door.destroy();
  await gated.stop();
  await open.stop();
  await real.stop();
}
process.exit(0);

/** Capacity without end and no bound on what the engine is handed: nothing ever waits at this door. */
function letEverythingIn(gateway: TestGateway): void {
  const engine = gateway.resources.engine();
  const gates = engine?.gates as Map<string, AdmissionGate>;
  for (const name of gates.keys()) gates.set(name, new AdmissionGate(Number.MAX_SAFE_INTEGER, 0));
}

function doorOf(gateway: TestGateway): Pool {
  return new Pool(gateway.origin, { connections: CLIENTS });
}

/** Answers a second of so many clients that ask again as soon as they were answered. */
async function segment(door: Pool): Promise<number> {
  const began = performance.now();
  let answers = 0;
  const client = async () => {
    while (performance.now() - began < SEGMENT_MS) {
      const answer = await door.request({
        method: "POST",
        path: "/v1/chat/completions",
        headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json" },
        body: BODY,
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 300)}`);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return (1000 * answers) / (performance.now() - began);
}

function report(rounds: { gated: number; open: number }[]): void {
  const mean = (drawn: typeof rounds, name: "gated" | "open") =>
    drawn.reduce((sum, round) => sum + round[name], 0) / drawn.length;
  const ratio = (drawn: typeof rounds) => mean(drawn, "gated") / mean(drawn, "open");
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const draws = Array.from({ length: 2_000 }, () =>
    ratio(rounds.map(() => rounds[Math.floor(random() * rounds.length)] as (typeof rounds)[number])),
  ).sort((a, b) => a - b);
  const [low, high] = [draws[50], draws[1_949]] as [number, number];
  const value = ratio(rounds);
  const met = value >= AIM ? "met" : "**not met**";
  console.log(`
## Throughput with admission and without

${CLIENTS} clients of the pilot, 16 answer tokens each, before one reference engine with the bundled pair: through a gateway, and through one
whose gate lets everything in, by turns; ${ROUNDS} rounds of ${SEGMENT_MS / 1000} s each, 95 % from drawing whole rounds again. Aim: at least ${100 * AIM} %.

| with admission (/s) | without (/s) | ratio | aim |
| --- | --- | --- | --- |
| ${mean(rounds, "gated").toFixed(1)} | ${mean(rounds, "open").toFixed(1)} | ${value.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] | ${met} |`);
}
