import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { withLeaseLock } from "./lease-lock";
import { ProcessIdentity, processLives } from "./process-identity";

/** Who has the device to itself, or starts an engine on it. */
export const Holder = ProcessIdentity.extend({
  id: z.string(),
  purpose: z.string(),
  since: z.string(),
  /** The process group that computes for the holder; it may outlive a holder that was killed. */
  job: ProcessIdentity.optional(),
  /** Bytes of the device that the job may come to hold. */
  budget_bytes: z.number().int().nonnegative().optional(),
});
export type Holder = z.infer<typeof Holder>;

/** An engine that passed its canary on this device: its own process, and the node that keeps it. */
export const ResidentEngine = ProcessIdentity.extend({
  id: z.string(),
  node: ProcessIdentity,
  purpose: z.string(),
  since: z.string(),
  /** The most that it may come to hold. */
  budget_bytes: z.number().int().nonnegative(),
  /** What it held once it was loaded, measured. */
  footprint_bytes: z.number().int().nonnegative(),
});
export type ResidentEngine = z.infer<typeof ResidentEngine>;

const DeviceUse = z.object({
  exclusive: Holder.nullable().default(null),
  starting: Holder.nullable().default(null),
  engines: z.array(ResidentEngine).default([]),
});
/** Who uses one device, as its lease file says. */
export type DeviceUse = z.infer<typeof DeviceUse>;

export interface OwnUser {
  pid: number;
  budget_bytes: number;
  footprint_bytes: number;
}

export interface LeasePlace {
  directory: string;
  /** A GPU's UUID, or `cpu` for the host. */
  device: string;
}

/** Who uses the device now; entries of processes that are gone are left out. */
export async function readDeviceUse(place: LeasePlace): Promise<DeviceUse> {
  const { exclusive, starting, engines } = await readLease(pathOf(place));
  const held = (holder: Holder | null) =>
    holder && (processLives(holder) || (holder.job && processLives(holder.job))) ? holder : null;
  return { exclusive: held(exclusive), starting: held(starting), engines: engines.filter(processLives) };
}

/** Whoever holds memory of the device under its lease, by the leader of its process group: engines, and a job that runs. */
export function ownUsers({ engines, exclusive }: DeviceUse): OwnUser[] {
  const { job, budget_bytes = 0 } = exclusive ?? {};
  return [...engines, ...(job ? [{ pid: job.pid, budget_bytes, footprint_bytes: 0 }] : [])];
}

/**
 * Changes the lease file of one device: `change` is given what stands in it and edits it, alone on this host. No time is
 * compared: a clock that is set changes nothing. A file without sense counts as empty.
 */
export async function changeDeviceUse<T>(
  place: LeasePlace,
  change: (use: DeviceUse) => Promise<T> | T,
): Promise<T> {
  const path = pathOf(place);
  await mkdir(place.directory, { recursive: true, mode: 0o700 });
  return withLeaseLock(path.replace(/\.lease$/, ".lock"), async () => {
    const use = await readLease(path);
    const before = JSON.stringify(use);
    const result = await change(use);
    use.engines = use.engines.filter(processLives);
    if (!use.exclusive && !use.starting && use.engines.length === 0) await rm(path, { force: true });
    else if (JSON.stringify(use) !== before) await writeLease(path, use);
    return result;
  });
}

function pathOf({ directory, device }: LeasePlace): string {
  if (!/^[A-Za-z0-9._-]{1,80}$/.test(device)) throw new Error(`"${device}" is no name of a device.`);
  return join(directory, `${device}.lease`);
}

/** Errors: a file that is there and cannot be read: who uses the device is then not known, which is not nobody. */
async function readLease(path: string): Promise<DeviceUse> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  try {
    return DeviceUse.parse(JSON.parse(text));
  } catch {
    return DeviceUse.parse({});
  }
}

async function writeLease(path: string, use: DeviceUse): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(temporary, JSON.stringify(use), { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
