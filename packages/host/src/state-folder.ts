import { setTimeout as pause } from "node:timers/promises";
import { acquireDeviceLease } from "./device-lease";

const AGAIN_MS = 200;
/** One that was told to stop has this long to be gone. */
const PATIENCE_MS = 12_000;

export interface StateFolder {
  stateDir: string;
  program: "worker" | "node";
  /** The variable that names the folder. */
  variable: string;
  signal: AbortSignal;
  patienceMs?: number;
}

/**
 * Keeps a program's state folder for this process while it lives: a second one there would end the first one's jobs and take its
 * sockets away. Gives what gives it back. Errors: who has it, with the next step; the signal's reason.
 */
export async function holdStateFolder(options: StateFolder): Promise<() => Promise<void>> {
  const { stateDir, program, variable, signal, patienceMs = PATIENCE_MS } = options;
  for (const deadline = performance.now() + patienceMs; ; await pause(AGAIN_MS, undefined, { signal })) {
    const taken = await acquireDeviceLease({ directory: stateDir, device: program, purpose: program });
    if (taken.ok) return () => taken.lease.release();
    if (performance.now() < deadline) continue;
    const { pid, since } = taken.holder;
    throw new Error(
      `Process ${pid} has been a ${program} in ${stateDir} since ${since}. Stop it, or give this ${program} a folder of its own (${variable}).`,
    );
  }
}
