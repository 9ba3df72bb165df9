import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./paths.mjs";
import { step } from "./progress.mjs";

const SKIPPED = new Set(
  "node_modules dist .next .turbo .venv .venv-evaluate __pycache__ test-results".split(" "),
);

/** A digest of files and folders by content; `extra` is anything else the result depends on. */
export function digestOf(paths, extra = []) {
  const hash = createHash("sha256");
  for (const item of extra) hash.update(`${item}\0`);
  for (const file of paths.flatMap((path) => filesUnder(path)).sort()) {
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name) || entry.name.endsWith(".tsbuildinfo") || entry.name === "next-env.d.ts")
      return [];
    const full = join(path, entry.name);
    return entry.isDirectory() ? filesUnder(full) : entry.isFile() ? [full] : [];
  });
}

/**
 * Does `work` unless the stamp beside its result says that it was done for the same `digest()`.
 * Gives true where it worked. `rewritesInputs`: the work may change what the digest reads.
 */
export async function once({ title, stamp, digest, work, rewritesInputs = false }) {
  const wanted = digest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return false;
  await step(title, work);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, rewritesInputs ? digest() : wanted);
  return true;
}
