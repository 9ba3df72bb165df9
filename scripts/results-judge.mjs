// Measures the judge on the bundled verifiable tasks and writes docs/results/judge.md.
// Usage: npm run results:judge [-- STEP ...]; steps fit, probes, report; with "page" the page alone.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensurePython } from "./lib/ensure-python.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main } from "./lib/sorry.mjs";

await main(async () => {
  await ensurePython();
  const program = join(ROOT, "scripts", "results", "judge.mjs");
  const tsx = join(ROOT, "node_modules", "tsx", "dist", "cli.mjs");
  const ran = spawnSync(process.execPath, [tsx, program, ...process.argv.slice(2)], {
    stdio: "inherit",
    cwd: ROOT,
  });
  process.exitCode = ran.status ?? 1;
});
