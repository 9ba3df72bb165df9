#!/usr/bin/env node
// Runs the bundled command line, bundling it first where that is missing or older than its sources.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const app = dirname(dirname(fileURLToPath(import.meta.url)));
const checkout = dirname(dirname(app));
const bundle = join(app, "dist", "main.js");

function newest(folder) {
  let found = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && !entry.name.includes(".test.")) {
      found = Math.max(found, statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs);
    }
  }
  return found;
}

function isStale() {
  const sources = [
    join(app, "src"),
    ...["contracts", "pairing", "cascade", "host"].map((name) => join(checkout, "packages", name, "src")),
  ];
  if (!existsSync(bundle)) return true;
  const made = statSync(bundle).mtimeMs;
  return sources.some((folder) => existsSync(folder) && newest(folder) > made);
}

/** Several may start at once: one bundles, the others wait for it. A lock older than a minute is a dead one's. */
function locked(work) {
  const lock = join(app, "dist", ".lock");
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const made = existsSync(lock) ? statSync(lock, { throwIfNoEntry: false })?.mtimeMs : undefined;
      if (made !== undefined && Date.now() - made > 60_000) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

if (existsSync(join(app, "src")) && isStale()) {
  if (!existsSync(join(checkout, "node_modules", "esbuild"))) {
    console.error("lifeboat: the checkout's packages are not installed. Run npm start, or npm ci, once.");
    process.exit(1);
  }
  const status = locked(() => {
    if (!isStale()) return 0;
    const build = [join(checkout, "scripts", "build-app.mjs"), app];
    return spawnSync(process.execPath, build, { stdio: ["ignore", 2, 2] }).status;
  });
  if (status !== 0) process.exit(1);
}
await import(pathToFileURL(bundle).href);
