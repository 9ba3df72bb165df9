// Measures the bundled pair and writes docs/results/bundled-pair.md.
// Usage: npm run results:bundled -- [STEP ...]; without a step all of them, with "page" the page alone.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensurePython } from "./lib/ensure-python.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main } from "./lib/sorry.mjs";

await main(async () => {
  await ensurePython();
  const program = join(ROOT, "scripts", "results", "bundled.mjs");
  const tsx = join(ROOT, "node_modules", "tsx", "dist", "cli.mjs");
  const ran = spawnSync(process.execPath, [tsx, program, ...process.argv.slice(2)], {
    stdio: "inherit",
    cwd: ROOT,
  });
  process.exitCode = ran.status ?? 1;
});
