import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./paths.mjs";
import { startOf } from "./running.mjs";

const LOCK = join(ROOT, ".helm", "preparing.json");

/** Two commands in one checkout must not install or build at once: the second waits for the first. */
export async function oneAtATime(work) {
  let said = false;
  while (!take()) {
    if (!said) console.log("  … Another command is installing or building here; waiting for it");
    said = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

function take() {
  mkdirSync(dirname(LOCK), { recursive: true });
  try {
    writeFileSync(LOCK, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  if (!holderLives()) rmSync(LOCK, { force: true });
  return false;
}

function holderLives() {
  try {
    const { pid, started } = JSON.parse(readFileSync(LOCK, "utf8"));
    return startOf(pid) === started;
  } catch {
    // Unreadable: being written at this moment, or already gone.
    return Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) < 2_000;
  }
}

function release() {
  rmSync(LOCK, { force: true });
}
