#!/usr/bin/env node
// Runs the bundled command line, bundling it first where that is missing or older than its sources.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
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
    ...["contracts", "pairing", "host"].map((name) => join(checkout, "packages", name, "src")),
  ];
  if (!existsSync(bundle)) return true;
  const made = statSync(bundle).mtimeMs;
  return sources.some((folder) => existsSync(folder) && newest(folder) > made);
}

if (existsSync(join(app, "src")) && isStale()) {
  if (!existsSync(join(checkout, "node_modules", "esbuild"))) {
    console.error("lifeboat: the checkout's packages are not installed. Run npm start, or npm ci, once.");
    process.exit(1);
  }
  const built = spawnSync(process.execPath, [join(checkout, "scripts", "build-app.mjs"), app], {
    stdio: ["ignore", 2, 2],
  });
  if (built.status !== 0) process.exit(1);
}
await import(pathToFileURL(bundle).href);
