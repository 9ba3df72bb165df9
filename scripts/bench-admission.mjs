// What a decision at the door costs, and what admission costs in answers a second. Usage: npm run bench:admission [-- --write]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { ensureInstalled } from "./lib/ensure-all.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main, Sorry } from "./lib/sorry.mjs";

await main(async () => {
  const say = process.stdout.write;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  await ensureInstalled();
  process.stdout.write = say;
  const measured = [
    "packages/admission/src/bench/main.ts",
    "apps/node/src/testing/run-admission-throughput.ts",
  ].map(runBench);
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version.slice(1)}`;
  const text = `${measured.join("")}\nMachine: ${machine}, load ${loadavg()[0]?.toFixed(2)}.\n`;
  process.stdout.write(text);
  if (process.argv.includes("--write")) writeFileSync(join(ROOT, "docs/results/admission.md"), text);
});

function runBench(file) {
  const ran = spawnSync(process.execPath, ["--import", "tsx", join(ROOT, file)], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (ran.status !== 0) throw new Sorry(`${file} ended with ${ran.status ?? ran.signal}.`);
  return ran.stdout;
}
