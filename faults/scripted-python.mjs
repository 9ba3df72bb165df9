import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A double of the Python library, for tests that need many runs and no numbers: it says that the host has no accelerator,
 * gives every model the same facts, and calibrates by waiting. Each calibration writes its begin and end into `journal`,
 * and ends with the code DOUBLE_DONE, since a double has no score.
 */
export function scriptedPython(folder, journal, { steps = 12, stepMs = 150 } = {}) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "python");
  writeFileSync(
    file,
    `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const { basename } = require("node:path");
const [, , , , verb, ...args] = process.argv;
const option = (name) => args[args.indexOf(name) + 1];
const emit = (type, more) => console.log(JSON.stringify({ v: 1, type, at: new Date().toISOString(), ...more }));
const facts = (id) => ({ id, model_type: "qwen3", num_hidden_layers: 28, hidden_size: 1024, num_attention_heads: 16,
  num_key_value_heads: 8, head_dim: 128, vocab_size: 151936, rope_theta: 1000000, tokenizer: "qwen3",
  weights_sha256: require("node:crypto").createHash("sha256").update(id).digest("hex") });
const parent = Number(process.env.LIFEBOAT_PARENT_PID);
setInterval(() => process.ppid !== parent && process.exit(1), 100).unref();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
(async () => {
  if (verb === "doctor") return emit("doctor", { devices: [{ vendor: "none", name: "no accelerator", capability: null }] });
  if (verb === "inspect") return emit("inspection", { facts: facts(basename(args[0])) });
  const pair = basename(option("--source-model")) + "->" + basename(option("--target-model"));
  const note = (what) => appendFileSync(${JSON.stringify(journal)}, JSON.stringify({ what, pair, pid: process.pid, worker: parent, at: Date.now() }) + "\\n");
  note("begin");
  for (let i = 1; i <= ${steps}; i++) {
    emit("progress", { stage: "score", done: i, total: ${steps}, percent: (100 * i) / ${steps}, rate: null, unit: "steps" });
    await sleep(${stepMs});
  }
  note("end");
  emit("failed", { code: "DOUBLE_DONE", message: "a double has no score", exit_code: 1 });
  process.exitCode = 1;
})();
`,
  );
  chmodSync(file, 0o755);
  return file;
}
