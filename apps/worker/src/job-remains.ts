import { setTimeout as pause } from "node:timers/promises";
import type { DeviceTelemetry } from "@helm/contracts";
import { groupMembers } from "@helm/host";

/** What a job that has ended left behind: processes that live, and what the device's driver counts for them. */
export interface JobRemains {
  pids: number[];
  /** Null where the driver does not say; 0 where only processes are left. */
  bytes: number | null;
}

export interface RemainsSearch {
  /** Leader of the job's process group. */
  job: number;
  /** Asks the driver of a GPU; null on a CPU, where memory goes with its process. */
  ask: (() => Promise<DeviceTelemetry>) | null;
  patienceMs?: number;
}

/** Null once nothing of the job is left. A driver may need a moment to take memory back, and gets it. */
export async function findRemains({
  job,
  ask,
  patienceMs = 5_000,
}: RemainsSearch): Promise<JobRemains | null> {
  for (const deadline = performance.now() + patienceMs; ; await pause(250)) {
    const found = await look(job, ask);
    if (found === null || performance.now() >= deadline) return found;
  }
}

async function look(job: number, ask: RemainsSearch["ask"]): Promise<JobRemains | null> {
  const living = groupMembers(job);
  const { processes } = ask ? await ask() : { processes: [] };
  // A driver that lists nobody says nothing about who is gone: only the living count then.
  const counted = (processes ?? []).filter(
    (one) => one.pid !== null && (one.pid === job || one.group === job || living.includes(one.pid)),
  );
  const pids = [...new Set([...living, ...counted.map((one) => one.pid ?? job)])].sort((a, b) => a - b);
  if (pids.length === 0) return null;
  const unsaid = counted.some((one) => one.used_bytes === null);
  return { pids, bytes: unsaid ? null : counted.reduce((sum, one) => sum + (one.used_bytes ?? 0), 0) };
}

export function remainsSentence({ pids, bytes }: JobRemains, device: string): string {
  const held = bytes === null ? "an unknown amount" : `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  return `The last job has left ${pids.length === 1 ? "process" : "processes"} ${pids.slice(0, 10).join(", ")} behind, holding ${held} of ${device}. End what is left (kill -9), or restart the host; no job is taken until it is gone.`;
}
