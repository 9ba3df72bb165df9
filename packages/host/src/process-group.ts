import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Readable } from "node:stream";

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child that leads a process group of its own, so that it ends together with all that it started. */
export interface GroupedChild {
  pid: number;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when the leader has ended and both streams are drained. */
  exit: Promise<Exit>;
  /** SIGTERM to the group, SIGKILL after `graceMs`; resolves when the leader is gone and nobody else is left. */
  end(graceMs: number): Promise<Exit>;
}

/** Errors: what spawning ran into, a program that is not there for one. */
export async function spawnGroup(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<GroupedChild> {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(command, args, {
    ...options,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} did not start.`);
  let over = false;
  const exit = new Promise<Exit>((resolve) => {
    child.once("exit", () => {
      over = true;
      // Whatever outlived its leader would keep the streams open, and the device busy.
      signalGroup(pid, "SIGKILL");
    });
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return {
    pid,
    stdout: child.stdout,
    stderr: child.stderr,
    exit,
    async end(graceMs) {
      if (!over) signalGroup(pid, "SIGTERM");
      const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
      try {
        return await exit;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Pids of those who live in a process group; who has died and was not waited for yet is none of them. */
export function groupMembers(leader: number): number[] {
  return listProcesses()
    .filter(({ group, state }) => group === leader && !state.startsWith("Z"))
    .map(({ pid }) => pid);
}

function listProcesses(): { pid: number; group: number; state: string }[] {
  if (process.platform !== "linux") {
    const rows = execFileSync("ps", ["-A", "-o", "pid=,pgid=,stat="], { encoding: "utf8" }).split("\n");
    return rows.map((row) => {
      const [pid, group, state = "Z"] = row.trim().split(/\s+/);
      return { pid: Number(pid), group: Number(group), state };
    });
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, "utf8");
        // The command, in brackets, may hold spaces; fields are counted after it.
        const [state = "Z", , group] = text.slice(text.lastIndexOf(")") + 2).split(" ");
        return { pid: Number(name), group: Number(group), state };
      } catch {
        return { pid: Number(name), group: 0, state: "Z" };
      }
    });
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
