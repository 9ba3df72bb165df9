import { createHash, randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { ownIdentity, ProcessIdentity, processLives } from "./process-identity";

const Owner = ProcessIdentity.extend({ token: z.string() });

/** Longer than anybody who lives keeps it: ending what a dead holder left takes five seconds at most. */
const PATIENCE_MS = 20_000;

/**
 * Runs `work` while no other process of this host runs any under the same path. The lock of a process that is gone is
 * removed, by exactly one of those who see it. Errors: one sentence where a living process keeps it too long.
 */
export async function withLeaseLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const ours = sign();
  for (const deadline = performance.now() + PATIENCE_MS; !(await createWhole(path, ours)); ) {
    const found = await readWhole(path);
    if (found !== null && !lives(found)) await removeDead(path, found);
    else if (performance.now() > deadline)
      throw new Error(
        `The lock ${path} is not given back (${found ?? "it comes and goes"}); look at who holds it.`,
      );
    else await pause(5 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

function sign(): string {
  return JSON.stringify({ ...ownIdentity(), token: randomBytes(12).toString("hex") });
}

function lives(content: string): boolean {
  try {
    return processLives(Owner.parse(JSON.parse(content)));
  } catch {
    return false;
  }
}

/** Removes the lock with the content `dead`, and no newer one that came to lie under its name. */
async function removeDead(path: string, dead: string): Promise<void> {
  const claims = await claimRemoval(path, dead);
  if (claims.length === 0) return;
  if ((await readWhole(path)) === dead) await rm(path, { force: true });
  for (const claim of claims) await rm(claim, { force: true });
}

/**
 * The right to remove what nobody living owns, itself a file that one alone can make: contents are never the same twice, so
 * what it names cannot come back. A claimant that died is succeeded in the same way. Empty: somebody else has it.
 */
async function claimRemoval(path: string, dead: string): Promise<string[]> {
  const claim = `${path}.over.${createHash("sha256").update(dead).digest("hex").slice(0, 24)}`;
  if (await createWhole(claim, sign())) return [claim];
  const other = await readWhole(claim);
  if (other === null || lives(other)) return [];
  const claims = await claimRemoval(path, other);
  return claims.length === 0 ? [] : [claim, ...claims];
}

/** Links a finished file into place: it appears whole or, where one is there, not at all. */
async function createWhole(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: "wx" });
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readWhole(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
