// Evaluates the bundled pair's own tasks through a mapper and writes docs/results/accuracy-retention.md.
// Usage: npm run results:evaluate [-- --mapper PATH --limit N ...]
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensureEvaluate } from "./lib/ensure-evaluate.mjs";
import { ensurePython } from "./lib/ensure-python.mjs";
import { KV, ROOT } from "./lib/paths.mjs";

await ensurePython();
const python = await ensureEvaluate();
const asked = process.argv.slice(2);
const unless = (name, ...given) => (asked.includes(name) ? [] : [name, ...given]);
const page = join("docs", "results", "accuracy-retention.md");
const args = [
  ...unless("--source-model", join(ROOT, "models", "pilot")),
  ...unless("--target-model", join(ROOT, "models", "target")),
  ...unless("--mapper", join(ROOT, "prisma", "seeds", "cleared", "mapper.safetensors")),
  ...unless("--device", "cpu"),
  ...unless("--page", join(ROOT, page)),
  ...["--page-command", ["npm run results:evaluate", ...(asked.length ? ["--", ...asked] : [])].join(" ")],
];
const child = spawn(python, ["-m", "lifeboat_kv", "evaluate", ...args, ...asked], {
  cwd: ROOT,
  stdio: ["ignore", "pipe", "ignore"],
  env: { ...process.env, PYTHONPATH: join(KV, "src"), TQDM_DISABLE: "1" },
});
let said = "";
for await (const line of createInterface({ input: child.stdout })) {
  const event = JSON.parse(line);
  if (event.type === "progress" && event.stage !== said) {
    said = event.stage;
    console.log(`${said} ...`);
  }
  if (event.type === "failed") console.error(event.message);
}
const code = await new Promise((resolve) => {
  if (child.exitCode !== null) resolve(child.exitCode);
  else child.on("close", resolve);
});
if (code === 0) console.log(`Written: ${page}`);
process.exit(code ?? 1);
