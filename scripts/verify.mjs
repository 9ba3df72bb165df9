// npm run verify: format, lint, types, import boundaries and doc paths. Under 30 seconds when warm.
import { cpus } from "node:os";
import { allChecks } from "./lib/checks.mjs";
import { ensureInstalled } from "./lib/ensure-all.mjs";
import { seconds } from "./lib/progress.mjs";
import { main } from "./lib/sorry.mjs";

await main(async () => {
  await ensureInstalled();
  const began = Date.now();
  const queue = allChecks();
  const total = queue.length;
  const failed = [];
  const lane = async () => {
    for (let check = queue.shift(); check; check = queue.shift()) {
      const started = Date.now();
      const { ok, output } = await check.work();
      console.log(`  ${ok ? "✓" : "✗"} ${check.name} (${seconds(Date.now() - started)})`);
      if (ok) continue;
      failed.push(check.name);
      console.log(output.trim());
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, Math.min(4, cpus().length)) }, lane));
  console.log(
    `verify: ${total - failed.length} passed, ${failed.length} failed (${seconds(Date.now() - began)})`,
  );
  if (failed.length > 0) process.exitCode = 1;
});
