// Admission on the running product: a ladder of clients, a burst beside the engine itself, mixed traffic, a budget too small.
// Usage: npm run bench:ladder -- [--write] [--quick] [--rounds N] [--only wide|footprint|small-budget]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { besideEngine, wordsOf } from "./bench/ladder/beside-engine.mjs";
import { besideLiteLlm } from "./bench/ladder/beside-litellm.mjs";
import { climb } from "./bench/ladder/climb.mjs";
import { readMemory, takeGolden } from "./bench/ladder/engine.mjs";
import { secondFootprint } from "./bench/ladder/footprint.mjs";
import { burst, Door, sustain } from "./bench/ladder/load.mjs";
import { aimsOf, pageOf, TARGETS, textOf } from "./bench/ladder/page.mjs";
import { bringUp } from "./bench/ladder/serving-product.mjs";
import { shortBudget } from "./bench/ladder/short-budget.mjs";
import { longPrompt, someTasks } from "./demo/prompts.mjs";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main, Sorry } from "./lib/sorry.mjs";

const PARTS = ["wide", "footprint", "small-budget"];
const { values: asked } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string" },
  },
});
/** Whether it runs at all; its figures say nothing of the aims. */
const { quick } = asked;
const CLIENTS = quick ? 128 : 2_048;
/** LiteLLM is slow enough that fewer say the same. */
const LITELLM_CLIENTS = quick ? 64 : 256;
const ROUNDS = asked.rounds === undefined ? (quick ? 2 : 7) : Number(asked.rounds);
/** Of the second model's footprint. */
const FOOTPRINT_CLIENTS = quick ? 64 : 256;
const MAX_TOKENS = 16;
const SUSTAIN = { clients: 64, seconds: quick ? 3 : 15 };
const LONG = { characters: 6_000, maxTokens: 400 };
/** Bytes of a token's cache in both bundled models together: one budget gives each as many tokens. */
const TOKEN_BYTES = 5_120 + 7_168;
/**
 * Tokens for each model in the part with the small budget: a long request takes about 2,700, so that two do not fit, and what one
 * leaves holds all the short ones together. With less, some wait for others while a long prompt is read, longer than the deadline.
 */
const SHORT_BUDGET_TOKENS = 4_500;
const say = (line) => process.stderr.write(`  ${line}\n`);
const section = (line) => process.stderr.write(`\n${line}\n`);

await main(async () => {
  if (!Number.isInteger(ROUNDS) || ROUNDS < 1)
    throw new Sorry(`--rounds "${asked.rounds}" is no whole number above zero.`);
  if (asked.only !== undefined && !PARTS.includes(asked.only))
    throw new Sorry(`--only "${asked.only}" is none of ${PARTS.join(", ")}.`);
  if (asked.only !== undefined && asked.write) throw new Sorry("--write needs all parts: leave --only out.");
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => stopping.abort(new Sorry("Interrupted. Nothing was written.")));
  await quietly(async () => {
    await ensureInstalled();
    if (asked.only !== "footprint") await ensureBuilt({ console: false });
  });
  const folder = mkdtempSync(join(tmpdir(), "helm-ladder-"));
  const measured = { load: { before: loadavg()[0], after: 0 }, clients: CLIENTS, maxTokens: MAX_TOKENS };
  section("Targets, written down before the run");
  for (const { what, target } of TARGETS) say(`${what}: ${target}`);
  const runs = (part) => asked.only === undefined || asked.only === part;
  try {
    if (runs("wide"))
      await onProduct(join(folder, "a"), {}, stopping.signal, (up) => onWideBudget(up, measured, folder));
    if (runs("footprint")) measured.second = await onSecondModel(folder, stopping.signal);
    if (runs("small-budget")) {
      const env = {
        HELM_ENGINE_KV_BYTES: String(SHORT_BUDGET_TOKENS * TOKEN_BYTES),
        HELM_ADMISSION_MS: "500",
      };
      await onProduct(join(folder, "b"), env, stopping.signal, (up) => onShortBudget(up, measured));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  measured.load.after = loadavg()[0];
  const aims = aimsOf(measured);
  process.stdout.write(textOf(aims));
  for (const trouble of measured.beside?.troubles ?? []) say(trouble);
  if (asked.write && !quick) writeFileSync(join(ROOT, "docs/results/ladder.md"), pageOf(measured, aims));
  if (quick) say("A quick run: that it goes through is all it says.");
  else if (aims.some(({ met }) => !met)) process.exitCode = 3;
});

/** Standard output is the report's alone. */
async function quietly(work) {
  const { write } = process.stdout;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  await work();
  process.stdout.write = write;
}

async function onProduct(stateDir, env, signal, work) {
  section("Bringing the product up");
  const routed = env.HELM_ENGINE_KV_BYTES === undefined;
  const up = await bringUp(stateDir, { onLine: say, signal, env, routed });
  const doors = {
    gateway: new Door({ origin: up.gateway, key: up.key }),
    engine: new Door({ socketPath: up.socketPath }),
  };
  try {
    await work({ ...up, doors });
  } finally {
    for (const door of Object.values(doors)) await door.close();
    await up.product.stop();
  }
}

async function onWideBudget({ doors, gateway, key, pids, socketPath }, measured, folder) {
  const prompts = someTasks(8).map(({ prompt }) => prompt);
  const golden = await takeGolden(doors.engine, ["pilot", "target"], prompts, MAX_TOKENS);
  const load = { model: "pilot", prompts, golden, maxTokens: MAX_TOKENS, clients: CLIENTS };
  measured.memory = await readMemory(socketPath);

  section(`lifeboat helm ladder to ${CLIENTS} clients, the pilot named`);
  measured.ladder = await climb({ gateway, key, to: CLIENTS, maxTokens: MAX_TOKENS, say });
  section(`${CLIENTS} clients at once, through the gateway and straight to the engine, by turns`);
  measured.beside = await besideEngine(doors, pids, { load, rounds: ROUNDS, say });
  section(`${CLIENTS} clients at once through helm-auto`);
  // What the route says alone: where a cache goes across, that is neither model's own answer.
  const routed = await takeGolden(doors.gateway, ["helm-auto"], prompts, MAX_TOKENS);
  measured.auto = await burst(doors.gateway, {
    ...load,
    model: "helm-auto",
    golden: { ...golden, ...routed },
  });
  say(`${measured.auto.correct} correct, ${measured.auto.rate.toFixed(1)}/s${wordsOf(measured.auto)}`);
  section(`${LITELLM_CLIENTS} clients at once through a LiteLLM proxy in front of the same engine`);
  measured.litellm = {
    clients: LITELLM_CLIENTS,
    ...(await besideLiteLlm(socketPath, folder, { ...load, clients: LITELLM_CLIENTS })),
  };
  say(
    measured.litellm.without ?? `${measured.litellm.correct} correct, ${measured.litellm.rate.toFixed(1)}/s`,
  );
  section("Short requests all the time, and with long ones among them");
  measured.short = await sustain(doors.gateway, { ...load, ...SUSTAIN });
  const long = longPrompt(LONG.characters);
  const texts = await takeGolden(doors.engine, ["pilot"], [long], MAX_TOKENS);
  const mixed = { prompts: [...prompts, long], golden: { pilot: [...golden.pilot, ...texts.pilot] } };
  measured.mixed = await sustain(doors.gateway, { ...load, ...SUSTAIN, ...mixed });
  for (const name of ["short", "mixed"])
    say(`${name}: ${measured[name].rate.toFixed(1)}/s${wordsOf(measured[name])}`);
  measured.memoryAfter = await readMemory(socketPath);
}

/** On engines of its own: the product's other processes are no part of what a model costs. */
async function onSecondModel(folder, signal) {
  section("The second model's whole footprint");
  const prompts = someTasks(8).map(({ prompt }) => prompt);
  return secondFootprint(folder, { prompts, maxTokens: MAX_TOKENS, clients: FOOTPRINT_CLIENTS, say, signal });
}

async function onShortBudget({ doors, socketPath }, measured) {
  section("A budget too small for two long requests");
  const prompts = someTasks(8).map(({ prompt }) => prompt);
  const golden = await takeGolden(doors.engine, ["pilot"], prompts, MAX_TOKENS);
  const long = { messages: longPrompt(LONG.characters), maxTokens: LONG.maxTokens };
  const { models } = await readMemory(socketPath);
  const seconds = quick ? 5 : 30;
  const load = { model: "pilot", prompts, golden, maxTokens: MAX_TOKENS, long, seconds, shorts: 8 };
  measured.tight = { budget: models.pilot.kv_budget_bytes, ...(await shortBudget(doors.gateway, load)) };
  const { shorts, longs } = measured.tight;
  say(
    `short: ${shorts.correct} correct, ${shorts.refused} refused, ${shorts.failed} failed${wordsOf(shorts)}; ` +
      `long: ${longs.completed} answered, ${longs.refusals.length} refused with a number, ${longs.failed} failed${wordsOf(longs)}`,
  );
}
