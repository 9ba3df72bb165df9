import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { z } from "zod";

/** A process that no later one with its pid can be taken for. */
export const ProcessIdentity = z.object({ pid: z.number().int(), started: z.string() });
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** Null where it does not run. */
export function processIdentity(pid: number): ProcessIdentity | null {
  const started = processStart(pid);
  return started === null ? null : { pid, started };
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, started: processStart(process.pid) ?? "" };
}

export function processLives({ pid, started }: ProcessIdentity): boolean {
  return processStart(pid) === started;
}

/** When process `pid` started, in the system's own words; null where it does not run. Tells a reused pid apart. */
export function processStart(pid: number): string | null {
  if (process.platform === "linux") {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The command, in brackets, may hold spaces; fields are counted after it. State Z is a process already dead.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      // Counted from the boot, so the boot belongs to it.
      return fields[0] === "Z" || !fields[19] ? null : `${fields[19]}@${bootId()}`;
    } catch {
      return null;
    }
  }
  try {
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return text || null;
  } catch {
    return null;
  }
}

let boot: string | undefined;

function bootId(): string {
  if (boot === undefined) {
    try {
      boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
    } catch {
      boot = "";
    }
  }
  return boot;
}

/** Ends a process group that a dead holder left, if it is still the one that `started` names; waits until it is gone. */
export async function endGroup(pid: number, started: string, patienceMs = 5_000): Promise<boolean> {
  const lives = () => processStart(pid) === started;
  if (!lives()) return true;
  // A kill of "group 1" means every process there is.
  if (pid <= 1) return false;
  for (const deadline = performance.now() + patienceMs; lives() && performance.now() < deadline; ) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return !lives();
}
