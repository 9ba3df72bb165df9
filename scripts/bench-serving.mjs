// Figures of serving on this machine, beside their aims.
// Usage: npm run bench:serving -- [--quick] [--write] [--only first-token,gateway,throughput,nodes]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openDoors } from "./bench/serving/doors.mjs";
import { measureFirstToken } from "./bench/serving/first-token.mjs";
import { measureOverhead, measureThroughput } from "./bench/serving/overhead.mjs";
import { aimsOf, pageOf, textOf } from "./bench/serving/page.mjs";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ensurePython } from "./lib/ensure-python.mjs";
import { ROOT } from "./lib/paths.mjs";
import { main, Sorry } from "./lib/sorry.mjs";
import { StandaloneNode } from "./lib/standalone-node.mjs";

const PARTS = ["first-token", "gateway", "throughput", "nodes"];
const args = process.argv.slice(2);
const only = args.includes("--only") ? (args[args.indexOf("--only") + 1] ?? "").split(",") : PARTS;
const wanted = (part) => only.includes(part);
/** Whether it runs at all; its figures say nothing of the aims. */
const quick = args.includes("--quick");
const say = (line) => process.stderr.write(`${line}\n`);

await main(async () => {
  const strange = only.filter((part) => !PARTS.includes(part));
  if (strange.length > 0) throw new Sorry(`There is no part "${strange[0]}". Parts: ${PARTS.join(", ")}.`);
  const load = { before: loadavg()[0], after: 0 };
  const write = process.stdout.write;
  // Standard output is the report's alone: it may be read by a program.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  await ensureInstalled();
  await ensurePython();
  await ensureBuilt({ console: false });
  const folder = mkdtempSync(join(tmpdir(), "helm-bench-"));
  const measured = { load };
  try {
    if (["first-token", "gateway", "throughput"].some(wanted)) await onNode(folder, measured);
    if (wanted("nodes")) measured.nodes = manyNodes();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  load.after = loadavg()[0];
  const aims = aimsOf(measured);
  process.stdout.write = write;
  process.stdout.write(textOf(aims));
  if (args.includes("--write") && !quick) {
    const file = join(ROOT, "docs/results/serving.md");
    writeFileSync(file, pageOf(measured, aims));
    say(`Written: ${file}`);
  }
  if (quick) say("A quick run: that it goes through is all it says.");
  else if (aims.some(({ met }) => !met)) process.exitCode = 3;
});

async function onNode(folder, measured) {
  say("the node with its engine, serving from a configuration on disk");
  const node = new StandaloneNode(join(folder, "state"));
  let open = null;
  try {
    await node.start();
    open = await openDoors(node);
    if (wanted("first-token"))
      measured.firstToken = await measureFirstToken(open, { rounds: quick ? 2 : 20, say });
    if (wanted("gateway"))
      measured.overhead = await measureOverhead(open, folder, { rounds: quick ? 30 : 1_500, say });
    if (wanted("throughput")) {
      const how = { segments: quick ? 2 : 8, seconds: quick ? 1 : 4, say };
      measured.throughput = [];
      for (const concurrency of [8, 32])
        measured.throughput.push(await measureThroughput(open, { concurrency, ...how }));
    }
  } catch (error) {
    if (node.child) say(node.child.tail());
    throw error;
  } finally {
    await open?.close();
    await node.stop();
  }
}

/** In a process of its own, from the control plane's sources. */
function manyNodes() {
  say("simulated nodes at a control plane");
  const bench = join(ROOT, "apps/control-plane/src/bench/many-nodes.ts");
  const main = ["--main", join(ROOT, "apps/control-plane/dist/main.js")];
  const ran = spawnSync(
    process.execPath,
    ["--import", "tsx", bench, ...main, ...(quick ? ["--quick"] : [])],
    {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 1 << 26,
    },
  );
  if (ran.status !== 0)
    throw new Sorry(`The measurement of many nodes ended with ${ran.status ?? ran.signal}.`);
  return JSON.parse(ran.stdout.toString());
}
