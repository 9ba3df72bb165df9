import { type ChildProcessByStdio, spawn } from "node:child_process";
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

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
