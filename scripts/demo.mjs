// npm run demo: the whole product on free ports, a real calibration, a mix of requests, one table; leaves nothing behind.
// Usage: npm run demo [-- --corpus NAME]   another corpus of the worker's folder, a shorter one for a quick look.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Admin, until } from "./demo/admin.mjs";
import { calibrate } from "./demo/calibrate.mjs";
import { longPrompt, rankByConfidence, someTasks } from "./demo/prompts.mjs";
import { firstTokenWithout, send, theMix } from "./demo/requests.mjs";
import { table } from "./demo/table.mjs";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ensureNodeVersion } from "./lib/ensure-node.mjs";
import { startProduct } from "./lib/product.mjs";
import { main, Sorry } from "./lib/sorry.mjs";

const TENANT = "demo";
const { corpus } = parseArgs({ options: { corpus: { type: "string", default: "bundled" } } }).values;

await main(async () => {
  ensureNodeVersion();
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => stopping.abort(new Sorry("Interrupted.")));
  await ensureInstalled();
  await ensureBuilt({ console: false });
  const stateDir = mkdtempSync(join(tmpdir(), "helm-demo-"));
  let product;
  try {
    console.log("\nBringing Helm up on free ports, in a folder that goes away again");
    product = await startProduct({
      stateDir,
      ports: "free",
      console: false,
      seed: "bundled",
      signal: stopping.signal,
      onLine: (line) => console.log(`  ✓ ${line}`),
      onEnded: (name, how, tail) => {
        if (!stopping.signal.aborted)
          stopping.abort(new Sorry(`The ${name} ${how}. The end of its log:\n${tail}`));
      },
    });
    if (!(await showHelm(product, stopping.signal))) process.exitCode = 1;
  } finally {
    stopping.abort();
    await product?.stop();
    rmSync(stateDir, { recursive: true, force: true });
    console.log("\nEverything of the demo is stopped and removed.");
  }
});

/** Returns whether everything that was promised happened. */
async function showHelm(product, signal) {
  const admin = new Admin(product.urls.controlPlane);
  await admin.setUp(product.setupToken);
  console.log("  ✓ first administrator, signed in");
  const device = product.hardware.verdict === "none" ? "cpu" : "auto";
  if (device === "cpu")
    console.log("  This host has no accelerator: Helm runs in development mode on the CPU.");

  console.log("\nCalibrating the bundled pair");
  const pair = await eligiblePair(admin, { device, corpus, signal });

  console.log("\nSwitching Helm on");
  const key = await switchOn(admin, pair);
  const ready = await until("The node being ready for the pair", 180_000, async () => {
    signal.throwIfAborted();
    return readinessOf(await admin.ask("node.list"), pair.id);
  });
  const pays = ready.min_tokens ? `from ${ready.min_tokens} prompt tokens` : "at no measured length";
  console.log(`  ✓ the node's canary transferred; here a transfer pays ${pays}`);
  if (!ready.min_tokens) {
    console.log(
      '    so requests that show a transfer send helm: {"transfer": "force"} (development mode only)',
    );
  }

  console.log("\nSending requests");
  // Loaded here: in a fresh clone it is not there before the installation above.
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({ apiKey: key, baseURL: `${product.urls.gateway}/v1`, maxRetries: 0 });
  const rows = await sendAll(admin, client, pair, signal);
  console.log(`\n${table(rows)}`);
  console.log(
    "\nFirst token: from asking the model that answered to its first token; transferred ones include staging." +
      `\nMode: ${rows.at(-1)?.mode ?? "production"}. Pair: ${pair.name}${pair.control ? " (the self-map control)" : ""}.`,
  );
  const broken = rows.filter((row) => !row.good);
  console.log(
    broken.length === 0 ? "All as promised." : `${broken.length} of ${rows.length} not as promised.`,
  );
  return broken.length === 0;
}

/** The pilot's pair where it clears the gate and may be routed; otherwise the control, and that is said. */
async function eligiblePair(admin, how) {
  const pairs = await until("Registering the bundled pairs", 120_000, async () => {
    how.signal.throwIfAborted();
    const found = await admin.ask("pair.list");
    return found.length >= 3 ? found : null;
  });
  const wanted = pairs.find((pair) => pair.source.id === "pilot" && pair.target.id === "target");
  const control = pairs.find((pair) => pair.control);
  if (!wanted || !control) throw new Sorry("The bundled pairs are not registered.");
  const run = await calibrate(admin, wanted, how);
  const { requireBeatsPilot } = await admin.ask("setting.get");
  const warned = (run.assessment.warnings ?? []).filter((one) => one !== "GATE_OVERFITTED");
  const held = requireBeatsPilot && warned.length > 0;
  if (run.verdict === "CLEARED" && !held) return wanted;
  const why =
    run.verdict === "CLEARED" ? `is kept from routing (${warned.join(", ")})` : "did not clear the gate";
  console.log(`  ${wanted.name} ${why}. The table below uses the control ${control.name}: a map of the`);
  console.log("  target to itself. It shows the machinery, not a saving: pilot and target are one model.");
  const checked = await calibrate(admin, control, how);
  if (checked.verdict !== "CLEARED") throw new Sorry("The control does not clear the gate either.");
  const route = await admin.ask("route.get");
  await admin.change("route.update", { name: route.name, pairId: control.id, revision: route.revision });
  return control;
}

async function switchOn(admin, pair) {
  const tenant = (await admin.ask("tenant.list")).find((one) => one.name === TENANT);
  await admin.change("tenant.setEnabled", { id: tenant.id, enabled: true, revision: tenant.revision });
  const { key } = await admin.change("key.create", { tenantId: tenant.id, name: "demo" });
  const { revision } = await admin.ask("setting.get");
  await admin.change("setting.setHelmEnabled", { enabled: true, revision });
  console.log(`  ✓ tenant ${TENANT} enabled, key created, Helm on, route helm-auto on ${pair.name}`);
  return key;
}

function readinessOf(nodes, pairId) {
  for (const { generation, access, readiness } of nodes) {
    const found = readiness?.pairs.find((one) => one.pair_id === pairId);
    if (found?.state === "REFUSED") throw new Sorry(`The node refuses the pair: ${found.code}.`);
    if (found?.state !== "READY" || generation.active < generation.desired) continue;
    if (readiness.access_version >= access.desired) return found;
  }
  return null;
}

async function sendAll(admin, client, pair, signal) {
  const pilot = pair.source.id;
  const target = pair.target.id;
  const { window } = await admin.ask("route.get");
  const ranked = await rankByConfidence(client, pilot, someTasks(12), window);
  const [easy, hard] = [ranked.slice(0, 2), ranked.slice(-3).reverse()];
  await judgeBetween(admin, easy[1].mean, hard[2].mean);
  const long = [longPrompt(1_500), longPrompt(3_000, 1)];
  const rows = [];
  for (const request of theMix({ pilot, target, easy, hard, long, session: "demo-session" })) {
    signal.throwIfAborted();
    if (request.killSwitch) await turnKillSwitch(admin, true);
    if (request.after) request.body.messages = request.after(rows.at(-1));
    const row = await send(client, request);
    if (request.compare && row.transfer === "transferred")
      row.withoutMs = await firstTokenWithout(client, request);
    if (request.killSwitch) await turnKillSwitch(admin, false);
    rows.push(row);
    console.log(`  ${row.good ? "✓" : "✗"} ${row.what}`);
  }
  return rows;
}

/** Puts the judge's bound between the surest and the least sure of the tasks, and waits until the node uses it. */
async function judgeBetween(admin, easy, hard) {
  const route = await admin.ask("route.get");
  const bound = Math.max(-99, (easy + hard) / 2);
  const judge = { meanLogprob: bound, minLogprob: -100 };
  // No request is escalated by chance: each row of the table shows what was decided.
  await admin.change("route.update", { name: route.name, judge, shareForced: 0, revision: route.revision });
  await onNode(admin, (node) => node.generation.active >= node.generation.desired);
  console.log(
    `  the judge escalates below a mean log-probability of ${bound.toFixed(2)} nats (between easy and hard)`,
  );
}

async function turnKillSwitch(admin, on) {
  const { revision } = await admin.ask("setting.get");
  await admin.change("setting.setKillSwitch", { on, revision });
  await onNode(admin, (node) => node.readiness.access_version >= node.access.desired);
}

function onNode(admin, look) {
  return until("The node taking up the change", 30_000, async () =>
    (await admin.ask("node.list")).some(look),
  );
}
