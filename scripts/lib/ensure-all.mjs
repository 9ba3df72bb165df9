import { ensureBundles, ensureConsole, ensurePrismaClient } from "./ensure-builds.mjs";
import { ensureNodePackages, ensureNodeVersion } from "./ensure-node.mjs";
import { ensurePython } from "./ensure-python.mjs";
import { oneAtATime } from "./one-at-a-time.mjs";

/** What every command needs: packages of both languages and the database client. */
export async function ensureInstalled() {
  ensureNodeVersion();
  await oneAtATime(async () => {
    await ensureNodePackages();
    await ensurePython();
    await ensurePrismaClient();
  });
}

/** What the built product needs. */
export async function ensureBuilt({ console = true } = {}) {
  await oneAtATime(async () => {
    await ensureBundles();
    if (console) await ensureConsole();
  });
}
