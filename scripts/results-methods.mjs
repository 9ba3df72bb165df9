// Fits every method on the bundled pair from one pass and writes docs/results/methods.md.
// Usage: npm run results:methods
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensurePython } from "./lib/ensure-python.mjs";
import { KV, ROOT } from "./lib/paths.mjs";

const python = await ensurePython();
const models = join(ROOT, "models");
const page = join("docs", "results", "methods.md");
const pair = ["--source-model", join(models, "pilot"), "--target-model", join(models, "target")];
const asked = process.argv.slice(2);
const device = asked.includes("--device") ? [] : ["--device", "cpu"];
const child = spawn(
  python,
  ["-m", "lifeboat_kv", "methods", ...pair, "--page", join(ROOT, page), ...device, ...asked],
  { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, PYTHONPATH: join(KV, "src") } },
);
for await (const line of createInterface({ input: child.stdout })) {
  const event = JSON.parse(line);
  if (event.type === "stage") console.log(`${event.stage} ...`);
  if (event.type === "failed") console.error(event.message);
}
const code = await new Promise((resolve) => {
  if (child.exitCode !== null) resolve(child.exitCode);
  else child.on("close", resolve);
});
if (code === 0) console.log(`Written: ${page}`);
process.exit(code ?? 1);
