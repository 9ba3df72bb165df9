// The steps of results:bundled, and the page from what they left. Runs under tsx: the verdict is packages/pairing's.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../lib/paths.mjs";
import { main, Sorry } from "../lib/sorry.mjs";
import { bundledPage } from "./bundled-page.mjs";
import { artifacts, recorded, runStep } from "./step.mjs";

const PAGE = join("docs", "results", "bundled-pair.md");
const model = (name) => join("models", name);
const pair = (from, to) => ["--source-model", model(from), "--target-model", model(to)];
const cpu = ["--device", "cpu"];
const calibrate = (from, to) => ["calibrate", ...pair(from, to), ...cpu, "--out", artifacts];

/** The mapper that a calibration step wrote. Errors: Sorry before it ran. */
function mapperOf(name) {
  const result = recorded(name)?.events.find((event) => event.type === "result");
  if (!result) throw new Sorry(`The step ${name} has to run first: npm run results:bundled -- ${name}`);
  return result.artifact.path;
}

// Points longer than a calibration allows itself: the table here goes as far as a minute a point.
const STEPS = {
  up: () => calibrate("pilot", "target"),
  down: () => calibrate("target", "pilot"),
  "control-pilot": () => calibrate("pilot", "pilot"),
  "control-target": () => calibrate("target", "target"),
  "memory-1": () => ["fit-memory", ...pair("pilot", "target"), ...cpu, "--sequences", "32"],
  "memory-8": () => ["fit-memory", ...pair("pilot", "target"), ...cpu, "--sequences", "256"],
  drift: () => [
    "drift",
    ...pair("pilot", "target"),
    "--mapper",
    mapperOf("up"),
    "--reverse-mapper",
    mapperOf("down"),
  ],
  cost: () => [
    "cost",
    ...pair("pilot", "target"),
    "--mapper",
    mapperOf("up"),
    ...cpu,
    "--seconds-a-point",
    "60",
  ],
  "far-up": () => [
    "long",
    ...pair("pilot", "target"),
    "--mapper",
    mapperOf("up"),
    ...cpu,
    "--multiple",
    "32",
  ],
  "far-down": () => [
    "long",
    ...pair("target", "pilot"),
    "--mapper",
    mapperOf("down"),
    ...cpu,
    "--multiple",
    "32",
  ],
};

await main(async () => {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => name !== "page" && !(name in STEPS));
  if (unknown.length > 0)
    throw new Sorry(
      `No such step: ${unknown.join(", ")}. There are ${Object.keys(STEPS).join(", ")} and page.`,
    );
  process.chdir(ROOT);
  for (const name of asked.length > 0 ? asked.filter((one) => one !== "page") : Object.keys(STEPS)) {
    console.log(`${name} ...`);
    const { seconds, peak_mib: peak } = await runStep(name, STEPS[name]());
    console.log(`${name}: ${seconds.toFixed(0)} s, ${peak.toFixed(0)} MiB`);
  }
  const found = Object.fromEntries(Object.keys(STEPS).map((name) => [name, recorded(name)]));
  // Without both directions there is nothing to say; what else is missing the page names.
  const missing = ["up", "down"].filter((name) => found[name] === null);
  if (missing.length > 0) return console.log(`No page yet: ${missing.join(" and ")} did not run.`);
  mkdirSync(dirname(PAGE), { recursive: true });
  writeFileSync(PAGE, bundledPage(found));
  console.log(`Written: ${PAGE}`);
});
