import { changeDeviceUse, type Holder, type LeasePlace } from "./lease-file";
import { endHold, hasEnded, newHolder } from "./lease-holder";
import { endGroup, processIdentity, processLives } from "./process-identity";

/** The lease's name for a GPU: its UUID, so that every program of the host means the same one. */
export function leaseNameOf(device: { vendor: string; uuid?: string | null | undefined }): string {
  return (device.uuid ?? `${device.vendor}-0`).replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 80);
}

export type LeaseResult = { ok: true; lease: DeviceLease } | { ok: false; holder: Holder };

export interface DeviceLease {
  device: string;
  /** Says which process group computes under this lease, so that who takes it over from a dead holder can end it. */
  noteJob(pid: number): Promise<void>;
  /** Never rejects. */
  release(): Promise<void>;
}

/**
 * Takes the lease on a device for one job of this process: no other job runs there meanwhile. Engines may: whether there
 * is memory beside them is the guard's to say. The lease of a process that is gone, or whose pid now belongs to another,
 * is taken over, once what it left computing was ended.
 */
export async function acquireDeviceLease(
  options: LeasePlace & { purpose: string; budgetBytes?: number },
): Promise<LeaseResult> {
  const { directory, device, purpose, budgetBytes } = options;
  const place = { directory, device };
  return changeDeviceUse(place, async (use): Promise<LeaseResult> => {
    const holder = use.exclusive;
    if (holder && !(await isOver(holder))) return { ok: false, holder };
    const ours = newHolder(purpose);
    use.exclusive = budgetBytes === undefined ? ours : { ...ours, budget_bytes: budgetBytes };
    return { ok: true, lease: new Lease(place, ours.id) };
  });
}

/** Whether a holder is gone with all that it left: the device is not free while a dead holder's job goes on on it. */
export async function isOver(holder: Holder): Promise<boolean> {
  if (processLives(holder) && !hasEnded(holder.id)) return false;
  return holder.job === undefined || (await endGroup(holder.job.pid, holder.job.started));
}

class Lease implements DeviceLease {
  constructor(
    private readonly place: LeasePlace,
    private readonly id: string,
  ) {}

  get device(): string {
    return this.place.device;
  }

  async noteJob(pid: number): Promise<void> {
    const job = processIdentity(pid);
    if (!job) return;
    await changeDeviceUse(this.place, (use) => {
      if (use.exclusive?.id === this.id) use.exclusive.job = job;
    });
  }

  release(): Promise<void> {
    return endHold(this.id, () =>
      changeDeviceUse(this.place, (use) => {
        if (use.exclusive?.id === this.id) use.exclusive = null;
      }),
    );
  }
}
