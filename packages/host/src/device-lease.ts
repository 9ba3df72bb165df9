import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "./atomic-file";
import { endGroup, processStart } from "./process-identity";

const Holder = z.object({
  pid: z.number().int(),
  started: z.string(),
  purpose: z.string(),
  since: z.string(),
  /** The process group that computes for the holder; it may outlive a holder that was killed. */
  job: z.object({ pid: z.number().int(), started: z.string() }).optional(),
});
export type Holder = z.infer<typeof Holder>;

/** The lease's name for a GPU: its UUID, so that every program of the host means the same one. */
export function leaseNameOf(device: { vendor: string; uuid?: string | null | undefined }): string {
  return (device.uuid ?? `${device.vendor}-0`).replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 80);
}

export type LeaseResult = { ok: true; lease: DeviceLease } | { ok: false; holder: Holder };

export interface DeviceLease {
  device: string;
  /** Says which process group computes under this lease, so that who takes it over from a dead holder can end it. */
  noteJob(pid: number): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes the lease on `device` (a GPU's UUID, or `cpu` for the host) for this process: one file each, whose creation is
 * the lock. A lease whose process is gone, or whose pid now belongs to another, is taken over, once what it left
 * computing was ended. No time is compared: a clock that is set changes nothing.
 */
export async function acquireDeviceLease(options: {
  directory: string;
  device: string;
  purpose: string;
}): Promise<LeaseResult> {
  const { directory, device, purpose } = options;
  if (!/^[A-Za-z0-9._-]{1,80}$/.test(device)) throw new Error(`"${device}" is no name of a device.`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${device}.lease`);
  const ours: Holder = {
    pid: process.pid,
    started: processStart(process.pid) ?? "",
    purpose,
    since: new Date().toISOString(),
  };
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await createWhole(path, JSON.stringify(ours)))
      return { ok: true, lease: new Lease(path, device, ours) };
    const found = await read(path);
    if (found === null) continue;
    const holder = parse(found);
    if (holder && processStart(holder.pid) === holder.started) return { ok: false, holder };
    const left = holder?.job;
    // The device is not free while a dead holder's job goes on on it.
    if (holder && left && !(await endGroup(left.pid, left.started))) return { ok: false, holder };
    await removeStale(path, found);
  }
  throw new Error(`The lease ${path} could not be taken; look at who writes it.`);
}

class Lease implements DeviceLease {
  private content: string;
  constructor(
    private readonly path: string,
    readonly device: string,
    private readonly ours: Holder,
  ) {
    this.content = JSON.stringify(ours);
  }

  async noteJob(pid: number): Promise<void> {
    const started = processStart(pid);
    if (started === null || (await read(this.path)) !== this.content) return;
    const content = JSON.stringify({ ...this.ours, job: { pid, started } });
    await writeFileAtomic(this.path, content);
    this.content = content;
  }

  async release(): Promise<void> {
    if ((await read(this.path)) === this.content) await rm(this.path, { force: true });
  }
}

/** Links a finished file into place: it appears whole or, where one is there, not at all. */
async function createWhole(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(temporary, content, { mode: 0o600, flag: "wx" });
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Moves the stale file aside; if another process was faster, what was moved is its new lease and goes back. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await read(aside)) !== stale) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return null;
  }
}

function parse(text: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
