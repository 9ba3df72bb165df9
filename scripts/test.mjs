// npm test: everything, in order, with one summary. `--only verify|unit|kv|demo|e2e` runs one suite.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ensureChromium } from "./lib/ensure-chromium.mjs";
import { ensureEvaluate } from "./lib/ensure-evaluate.mjs";
import { ensureNodeVersion } from "./lib/ensure-node.mjs";
import { ensureSwift } from "./lib/ensure-swift.mjs";
import { ROOT } from "./lib/paths.mjs";
import { seconds } from "./lib/progress.mjs";
import { main, Sorry } from "./lib/sorry.mjs";
import { SUITES } from "./lib/suites.mjs";

await main(async () => {
  ensureNodeVersion();
  const chosen = choose(process.argv.slice(2));
  const began = Date.now();
  console.log("Preparing");
  await ensureInstalled();
  if (chosen.some((name) => name === "demo" || name === "e2e" || name === "unit")) {
    await ensureBuilt({ console: chosen.includes("e2e") });
  }
  if (chosen.includes("kv")) await ensureEvaluate().catch(skipping("the evaluation harness"));
  if (chosen.includes("unit")) await ensureSwift().catch(skipping("a real S3 interface"));
  if (chosen.includes("e2e")) process.env.HELM_CHROMIUM = await ensureChromium();
  mkdirSync(join(ROOT, ".helm", "test-reports"), { recursive: true });

  const results = [];
  for (const name of chosen) {
    console.log(`\n━━ ${SUITES[name].title}`);
    const started = Date.now();
    results.push({ name, ...(await SUITES[name].run()), ms: Date.now() - started });
  }
  report(results, Date.now() - began);
});

/** An extra: where it cannot be had, its own tests are skipped, and the summary counts them. */
function skipping(what) {
  return (error) => {
    if (!(error instanceof Sorry)) throw error;
    console.log(`  The tests of ${what} will be skipped. ${error.message}`);
  };
}

function choose(args) {
  const names = Object.keys(SUITES);
  if (args.length === 0) return names;
  const [flag, name] = args;
  if (flag !== "--only" || !names.includes(name)) {
    throw new Sorry(`Usage: npm test [-- --only ${names.join("|")}]`);
  }
  return [name];
}

function report(results, ms) {
  const sum = (key) => results.reduce((total, one) => total + one[key], 0);
  console.log(`\n━━ Summary (${seconds(ms)})`);
  for (const { name, passed, failed, skipped, ms: took } of results) {
    const tail = skipped > 0 ? `, ${skipped} skipped` : "";
    console.log(
      `  ${failed === 0 ? "✓" : "✗"} ${name.padEnd(6)} ${passed} passed, ${failed} failed${tail} (${seconds(took)})`,
    );
  }
  const skipped = sum("skipped");
  console.log(`${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  if (sum("failed") > 0) process.exitCode = 1;
}
