// Figures of the control plane on this machine, beside their aims.
// Usage: npm run bench:control -- [--write] [--only consoles,queries,workers,memory]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureMemory } from "./bench/memory.mjs";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main } from "./lib/sorry.mjs";

await main(async () => {
  const args = process.argv.slice(2);
  const only = args[args.indexOf("--only") + 1];
  const memory = !args.includes("--only") || only.split(",").includes("memory");
  const say = process.stdout.write;
  // Standard output is the report's alone: it may be read by a program.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  await ensureInstalled();
  await ensureBuilt({ console: memory });
  const folder = mkdtempSync(join(tmpdir(), "helm-bench-"));
  try {
    const extra = ["--main", join(ROOT, "apps/control-plane/dist/main.js")];
    if (memory) {
      const file = join(folder, "memory.json");
      writeFileSync(file, JSON.stringify(await measureMemory(join(folder, "state"))));
      extra.push("--memory", file);
    }
    process.stdout.write = say;
    const bench = join(ROOT, "apps/control-plane/src/bench/main.ts");
    const page = ["--page", join(ROOT, "docs/results/control.md")];
    const ran = spawnSync(process.execPath, ["--import", "tsx", bench, ...args, ...extra, ...page], {
      cwd: ROOT,
      stdio: "inherit",
    });
    process.exitCode = ran.status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
