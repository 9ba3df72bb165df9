// Speed and memory of the KV library's inner kernels on this machine, beside its own matrix product rate.
// Usage: npm run bench:kv -- [--quick] [--json] [--write] [--seconds N] [--device auto|cpu|cuda]
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensurePython } from "./lib/ensure-python.mjs";
import { KV, ROOT } from "./lib/paths.mjs";
import { main } from "./lib/sorry.mjs";

await main(async () => {
  const say = process.stdout.write;
  // Standard output is the report's alone: it may be read by a program.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const python = await ensurePython();
  process.stdout.write = say;
  const report = join(ROOT, "docs", "results", "kv-kernels.md");
  const args = process.argv.slice(2).flatMap((one) => (one === "--write" ? ["--write", report] : [one]));
  const ran = spawnSync(python, ["-m", "lifeboat_kv.bench", ...args], {
    stdio: "inherit",
    env: { ...process.env, PYTHONPATH: join(KV, "src") },
  });
  process.exitCode = ran.status ?? 1;
});
