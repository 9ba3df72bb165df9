import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PostgresBinaries } from "./binaries";
import { commandFor, openWay, type Unprivileged } from "./unprivileged";

export const ROLE = "helm";
const UNFINISHED = "data.new-";

export interface Cluster {
  dataDir: string;
  password: string;
}

/** Gives the cluster in `stateDir`, made on first use. A half-made one is never mistaken for a whole one. */
export async function ensureCluster(
  stateDir: string,
  binaries: PostgresBinaries,
  who: Unprivileged,
  durable: boolean,
): Promise<Cluster> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await openWay(stateDir, who);
  if (who.uid !== undefined) await chown(stateDir, who.uid, who.gid ?? who.uid);
  const dataDir = join(stateDir, "data");
  const password = await ensurePassword(stateDir);
  const entries = await readdir(stateDir);
  for (const name of entries.filter((entry) => entry.startsWith(UNFINISHED))) {
    await rm(join(stateDir, name), { recursive: true, force: true });
  }
  if (!entries.includes("data")) await initialise(stateDir, dataDir, password, binaries, who, durable);
  return { dataDir, password };
}

async function ensurePassword(stateDir: string): Promise<string> {
  const file = join(stateDir, "password");
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  if ((await readdir(stateDir)).includes("data")) {
    throw new Error(
      `${file} is missing, so the database beside it cannot be opened. Put it back, or move ${stateDir} away to start empty.`,
    );
  }
  const password = randomBytes(24).toString("base64url");
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  return password;
}

async function initialise(
  stateDir: string,
  dataDir: string,
  password: string,
  binaries: PostgresBinaries,
  who: Unprivileged,
  durable: boolean,
): Promise<void> {
  const fresh = join(stateDir, `${UNFINISHED}${randomBytes(4).toString("hex")}`);
  const passwordFile = `${fresh}.password`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (who.uid !== undefined) await chown(passwordFile, who.uid, who.gid ?? who.uid);
  try {
    const [command, args] = commandFor(who, binaries.initdb, [
      `--pgdata=${fresh}`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(durable ? [] : ["--no-sync"]),
    ]);
    await run(command, args, who);
    await chmod(fresh, 0o700);
    await rename(fresh, dataDir);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(fresh, { recursive: true, force: true });
  }
}

function run(command: string, args: string[], who: Unprivileged): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { uid: who.uid, gid: who.gid, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`initdb ended with ${signal ?? code}: ${output.trim().slice(-2000)}`));
    });
  });
}
