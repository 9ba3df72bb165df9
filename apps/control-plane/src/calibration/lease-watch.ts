/** A busy machine looks late, too; that is no reason to wait for a dead worker for ever. */
const LEAST_MS = 10_000;

/**
 * Tells when the time since the last look cannot be trusted. Where nobody looked for long (the database was away, the machine
 * slept) or the database's clock jumped, the workers' silence proves nothing, and every lease gets a full period.
 */
export class LeaseWatch {
  private last: { elapsedMs: number; database: Date } | null = null;

  constructor(
    private readonly leaseMs: number,
    /** Time that no clock setting moves, in milliseconds. */
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  private renew = false;

  /** Called at every tick with the database's time, also by a control plane that leaves the sweeping to another. */
  look(database: Date): void {
    const before = this.last;
    const now = { elapsedMs: this.elapsed(), database };
    this.last = now;
    if (!before) return;
    const passed = now.elapsedMs - before.elapsedMs;
    const told = database.getTime() - before.database.getTime();
    const tolerance = Math.max(this.leaseMs / 2, LEAST_MS);
    if (passed > tolerance || Math.abs(told - passed) > tolerance) this.renew = true;
  }

  /** True where leases have to be renewed before any is judged, until they were. */
  mustRenew(): boolean {
    return this.renew;
  }

  renewed(): void {
    this.renew = false;
  }
}
