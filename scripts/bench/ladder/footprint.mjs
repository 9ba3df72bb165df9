import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { KV, ROOT, VENV_PYTHON } from "../../lib/paths.mjs";
import { Sorry } from "../../lib/sorry.mjs";
import { readMemory, takeGolden } from "./engine.mjs";
import { burst, Door } from "./load.mjs";
import { memoryOf } from "./processes.mjs";

const START_MS = 180_000;
const END_MS = 30_000;

/**
 * What the second model costs, measured: within the pilot's own engine, as one engine with the pilot alone and one with both
 * under the same load; and as an engine process of its own beside the first.
 */
export async function secondFootprint(folder, { prompts, maxTokens, clients, say, signal }) {
  const golden = {};
  const load = (model) => ({ model, prompts, golden, maxTokens, clients });
  const learn = async ({ door }, model) =>
    Object.assign(golden, await takeGolden(door, [model], prompts, maxTokens));
  const found = {};
  await withEngine(folder, "alone", ["pilot"], signal, async (alone) => {
    await learn(alone, "pilot");
    await alone.ask(load("pilot"));
    found.alone = alone.measure();
    say(`the pilot's engine alone: ${words(found.alone)}`);
    await withEngine(folder, "second", ["target"], signal, async (second) => {
      found.secondIdle = second.measure();
      await learn(second, "target");
      await second.ask(load("target"));
      found.second = second.measure();
      found.secondParts = await second.memory();
      found.aloneBeside = alone.measure();
      say(`a second engine with the target, beside it: ${words(found.second)}`);
    });
  });
  await withEngine(folder, "both", ["pilot", "target"], signal, async (both) => {
    found.bothIdle = both.measure();
    await both.ask(load("pilot"));
    found.bothSame = both.measure();
    await both.ask(load("target"));
    found.both = both.measure();
    found.bothParts = await both.memory();
    say(`one engine with both: ${words(found.both)}`);
  });
  return { ...found, clients };
}

/** Bytes that the second model adds to the pilot's engine under its own load and the pilot's; and a process of its own. */
export function addedBytes({ alone, both, second, aloneBeside }) {
  return {
    inside: both.pss - alone.pss,
    insideResident: both.rss - alone.rss,
    // What both engines hold together beyond the first alone: shared pages of libraries count once.
    beside: second.pss + aloneBeside.pss - alone.pss,
    besideResident: second.rss,
  };
}

const words = ({ rss, pss }) => `${mib(rss)} MiB resident, ${mib(pss)} MiB its share`;
const mib = (bytes) => (bytes / 1024 ** 2).toFixed(1);

async function withEngine(folder, name, models, signal, work) {
  signal?.throwIfAborted();
  const socketPath = join(folder, `${name}.sock`);
  const served = models.flatMap((model) => ["--model", `${model}=${join(ROOT, "models", model)}`]);
  const child = spawn(
    VENV_PYTHON,
    ["-m", "lifeboat_kv.engine", ...served, "--listen", `unix:${socketPath}`, "--exit-with-parent"],
    { env: { ...process.env, PYTHONPATH: join(KV, "src") }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const end = new Promise((resolve) => child.once("close", resolve));
  const door = new Door({ socketPath });
  try {
    await ready(child, name);
    const engine = {
      door,
      measure: () => memoryOf(child.pid) ?? lost(name),
      memory: () => readMemory(socketPath),
      ask: async (load) => {
        const result = await burst(door, load);
        if (result.correct !== load.clients)
          throw new Sorry(`The engine ${name} answered ${result.correct} of ${load.clients} correctly.`);
      },
    };
    for (const model of models)
      await door.ask({ model, messages: [{ role: "user", content: "Hello" }], max_tokens: 1 });
    await work(engine);
  } finally {
    await door.close();
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await end;
    clearTimeout(timer);
  }
}

function lost(name) {
  throw new Sorry(`The system does not say what the engine ${name} holds of memory.`);
}

async function ready(child, name) {
  let last = "";
  createInterface({ input: child.stderr }).on("line", (line) => {
    last = line;
  });
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Sorry(`The engine ${name} did not start in time.`)), START_MS);
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.includes('"ready"')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      reject(new Sorry(`The engine ${name} ended with ${code}: ${last}`));
    });
  });
}
