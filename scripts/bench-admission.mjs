// What a decision at the door costs. Usage: npm run bench:admission [-- --write]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { ensureInstalled } from "./lib/ensure-all.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main } from "./lib/sorry.mjs";

await main(async () => {
  const say = process.stdout.write;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  await ensureInstalled();
  process.stdout.write = say;
  const bench = join(ROOT, "packages/admission/src/bench/main.ts");
  const ran = spawnSync(process.execPath, ["--import", "tsx", bench], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.exitCode = ran.status ?? 1;
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version.slice(1)}`;
  const text = `${ran.stdout}\nMachine: ${machine}, load ${loadavg()[0]?.toFixed(2)}.\n`;
  process.stdout.write(text);
  if (ran.status === 0 && process.argv.includes("--write"))
    writeFileSync(join(ROOT, "docs/results/admission.md"), text);
});
