import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What `postmaster.pid` says about a server; its lines have a fixed order. */
export interface Postmaster {
  pid: number;
  port: number;
  ready: boolean;
}

/** The server that runs on `dataDir`, whoever started it, or null. */
export async function findPostmaster(dataDir: string): Promise<Postmaster | null> {
  const text = await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1 || lines[1] !== dataDir) return null;
  if (!(await commandLine(pid)).includes(dataDir)) return null;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

// A pid alone proves nothing: after a crash another program may have it.
async function commandLine(pid: number): Promise<string> {
  if (process.platform === "linux") {
    const raw = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return raw.replaceAll("\0", " ");
  }
  return spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
}

/** Ends the server: fast shutdown first, then immediate (it recovers from its log at the next start). */
export async function stopPostmaster(pid: number, patienceMs = 15_000): Promise<void> {
  for (const [signal, patience] of [
    ["SIGINT", patienceMs],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 2_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const until = Date.now() + patience;
    while (Date.now() < until) {
      if (!isAlive(pid)) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
