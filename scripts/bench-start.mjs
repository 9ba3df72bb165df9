// npm run bench:start: how long `npm start` takes from nothing and once more, beside the aims.
// Usage: npm run bench:start [-- --write] [--no-cold] [--starts N] [--here]
// --here clones and installs nothing: starts of this checkout as it is, on a state folder of their own.
// Clones this checkout's commit into a folder that goes away again, so the tree is what git has. "Cold" empties npm's and
// pip's caches (folders of this run's own); "cached" installs again from what the cold start left in them.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { run } from "./lib/command.mjs";
import { ROOT } from "./lib/paths.mjs";
import { choosePorts } from "./lib/ports.mjs";
import { main, Sorry } from "./lib/sorry.mjs";

const AIM = { fresh: 300, warm: 10 };
const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    here: { type: "boolean", default: false },
    "no-cold": { type: "boolean", default: false },
    starts: { type: "string", default: "3" },
  },
});

await main(async () => {
  const folder = mkdtempSync(join(tmpdir(), "helm-bench-start-"));
  const caches = { npm_config_cache: join(folder, "npm-cache"), PIP_CACHE_DIR: join(folder, "pip-cache") };
  for (const cache of Object.values(caches)) mkdirSync(cache);
  const rows = [];
  try {
    const kinds = values.here ? [] : values["no-cold"] ? ["cached"] : ["cold", "cached"];
    let tree = values.here ? ROOT : undefined;
    const state = values.here ? { HELM_STATE_DIR: join(folder, "state") } : {};
    if (values.here)
      rows.push(await timedStart(ROOT, "first start on an empty state, packages installed", state));
    for (const kind of kinds) {
      if (tree) rmSync(tree, { recursive: true, force: true });
      tree = join(folder, kind);
      await run("git", ["clone", "-q", ROOT, tree], { log: "bench-start-clone" });
      // Without a cold run first, the caches are this machine's own.
      rows.push(await timedStart(tree, `first start, ${wordsOf(kind)}`, values["no-cold"] ? {} : caches));
    }
    for (let i = 0; i < Number(values.starts); i++)
      rows.push(await timedStart(tree, `start ${rows.length + 1}`, { ...(values.here ? state : caches) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const text = report(rows);
  console.log(`\n${text}`);
  if (values.write) writeFileSync(join(ROOT, "docs", "results", "start.md"), text);
});

function wordsOf(kind) {
  if (kind === "cold") return "npm's and pip's caches empty";
  return values["no-cold"] ? "npm's and pip's caches as on this machine" : "npm's and pip's caches filled";
}

/** One `npm start` until it says that Helm is up; then Ctrl-C, and nothing may be left. */
async function timedStart(tree, name, env) {
  const ports = await choosePorts("free", ["console", "controlPlane", "gateway"]);
  const began = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: tree,
    env: {
      ...process.env,
      HELM_STATE_DIR: "",
      ...env,
      HELM_CONSOLE_PORT: String(ports.console),
      HELM_PORT: String(ports.controlPlane),
      HELM_GATEWAY_PORT: String(ports.gateway),
    },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  console.log(`\n${name}`);
  const steps = [];
  let took = 0;
  let output = "";
  const up = new Promise((resolve, reject) => {
    const take = (chunk) => {
      output += chunk;
      for (const line of String(chunk)
        .split("\n")
        .filter((text) => text.includes("✓"))) {
        const at = (performance.now() - began) / 1000;
        steps.push({ at, what: line.replace(/^.*✓\s*/, "").trim() });
        console.log(`  ${at.toFixed(1).padStart(6)} s  ${steps.at(-1).what}`);
      }
      if (output.includes("Helm is up.")) resolve();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("exit", (code) => reject(new Sorry(`npm start ended with ${code}:\n${output.slice(-3_000)}`)));
  });
  try {
    await up;
  } finally {
    took = (performance.now() - began) / 1000;
    await stop(child);
  }
  console.log(`  ${took.toFixed(1).padStart(6)} s  Helm is up`);
  return { name, took, steps, load: readFileSync("/proc/loadavg", "utf8").split(" ")[0] };
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGINT");
  const late = setTimeout(() => process.kill(-child.pid, "SIGKILL"), 60_000);
  await gone;
  clearTimeout(late);
}

function report(rows) {
  const cores = cpus();
  const lines = [
    "# Fresh start and warm start",
    "",
    "Made by `npm run bench:start -- --write`. Each row is one `npm start` in a clone, timed from the command to the line",
    '"Helm is up.", which is printed once database, control plane, console, worker and node answer and the node\'s engine is',
    "ready. Where the aim was missed it says so.",
    "",
    `Machine: ${cores.length} cores (${cores[0]?.model ?? "unknown"}), Node ${process.versions.node}. Load: the average of the last minute when Helm was up; on a machine that does nothing else a start itself makes about 2.`,
    "",
    "| start | seconds | aim | met | load |",
    "| --- | --- | --- | --- | --- |",
  ];
  for (const { name, took, load } of rows) {
    const aim = name.startsWith("first") ? AIM.fresh : AIM.warm;
    lines.push(`| ${name} | ${took.toFixed(1)} | ${aim} | ${took <= aim ? "yes" : "no"} | ${load} |`);
  }
  for (const { name, steps, took } of [rows[0], rows.at(-1)]) {
    lines.push("", `## ${name[0].toUpperCase()}${name.slice(1)}`, "", "| at, s | done |", "| --- | --- |");
    for (const { at, what } of steps) lines.push(`| ${at.toFixed(1)} | ${what} |`);
    lines.push(`| ${took.toFixed(1)} | Helm is up |`);
  }
  return `${lines.join("\n")}\n`;
}
