import { setTimeout as pause } from "node:timers/promises";
import { isOver } from "./device-lease";
import { changeDeviceUse, type DeviceUse, type Holder, type LeasePlace } from "./lease-file";
import { endHold, newHolder } from "./lease-holder";
import { endGroup, ownIdentity, processIdentity, processLives } from "./process-identity";

const AGAIN_MS = 200;

/** An engine's place on a device: the start lock at first, an entry among the residents once it was measured. */
export interface EngineLease {
  /** Says which process group is the engine, so that who comes after a killed node can end it. */
  noteProcess(pid: number): Promise<void>;
  /** The engine was measured after its load: the next one may start. */
  settle(measured: { budgetBytes: number; footprintBytes: number }): Promise<void>;
  /** Gives up whichever of the two it has; called on every way out, and never rejects. */
  release(): Promise<void>;
}

export interface EngineStart extends LeasePlace {
  purpose: string;
  signal: AbortSignal;
  /** Told once of each start that this one waits for. */
  onWaiting(holder: Holder): void;
}

/**
 * Waits until no other engine starts on the device: started together they would count each other's memory. A start whose
 * node is gone is ended and taken over; one that hangs is ended by its own supervisor. Errors: the signal's reason.
 */
export async function acquireEngineStart(options: EngineStart): Promise<EngineLease> {
  const { directory, device, purpose, signal } = options;
  const place = { directory, device };
  for (let told = ""; ; ) {
    signal.throwIfAborted();
    const taken = await tryStart(place, purpose);
    if ("lease" in taken) return taken.lease;
    if (taken.holder.id !== told) options.onWaiting(taken.holder);
    told = taken.holder.id;
    await pause(AGAIN_MS, undefined, { signal });
  }
}

function tryStart(place: LeasePlace, purpose: string): Promise<{ lease: EngineLease } | { holder: Holder }> {
  return changeDeviceUse(place, async (use) => {
    if (use.starting && !(await isOver(use.starting))) return { holder: use.starting };
    await endOrphans(use);
    use.starting = newHolder(purpose);
    return { lease: new Lease(place, use.starting) };
  });
}

/** An engine whose node was killed serves nobody; it ends by itself, but not before the next one measures. */
async function endOrphans(use: DeviceUse): Promise<void> {
  const orphans = use.engines.filter((engine) => !processLives(engine.node));
  // At one time: the lock is held meanwhile, and one that cannot be killed takes all of its patience.
  await Promise.all(orphans.map((engine) => endGroup(engine.pid, engine.started)));
}

class Lease implements EngineLease {
  constructor(
    private readonly place: LeasePlace,
    private readonly holder: Holder,
  ) {}

  async noteProcess(pid: number): Promise<void> {
    const engine = processIdentity(pid);
    if (!engine) return;
    this.holder.job = engine;
    await changeDeviceUse(this.place, (use) => {
      if (use.starting?.id === this.holder.id) use.starting.job = engine;
    });
  }

  async settle(measured: { budgetBytes: number; footprintBytes: number }): Promise<void> {
    const { id, purpose, job } = this.holder;
    if (!job) throw new Error("An engine without a process cannot settle.");
    await changeDeviceUse(this.place, (use) => {
      if (use.starting?.id === id) use.starting = null;
      use.engines = use.engines.filter((engine) => engine.id !== id);
      use.engines.push({
        ...job,
        id,
        node: ownIdentity(),
        purpose,
        since: new Date().toISOString(),
        budget_bytes: Math.round(measured.budgetBytes),
        footprint_bytes: Math.round(measured.footprintBytes),
      });
    });
  }

  release(): Promise<void> {
    return endHold(this.holder.id, () =>
      changeDeviceUse(this.place, (use) => {
        if (use.starting?.id === this.holder.id) use.starting = null;
        use.engines = use.engines.filter((engine) => engine.id !== this.holder.id);
      }),
    );
  }
}
