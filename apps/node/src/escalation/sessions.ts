/** Who answered last in a session; within one the served model does not go back to the pilot by itself. */
export type SessionHolder = "pilot" | "target";

interface Entry {
  holder: SessionHolder;
  touched: number;
}

/**
 * Bounded and forgetful: none stays beyond its idle time, and where there is no room the tenant with most sessions
 * loses the one it used longest ago. So nobody can push out the sessions of tenants that hold fewer.
 */
export class Sessions {
  private readonly tenants = new Map<string, Map<string, Entry>>();
  private count = 0;

  constructor(
    private readonly most = 10_000,
    private readonly idleMs = 3_600_000,
    private readonly now: () => number = Date.now,
  ) {}

  get size(): number {
    return this.count;
  }

  holder(tenant: string, session: string | null): SessionHolder | null {
    if (session === null) return null;
    const entry = this.tenants.get(tenant)?.get(session);
    if (!entry) return null;
    if (this.now() - entry.touched > this.idleMs) {
      this.forget(tenant, session);
      return null;
    }
    return entry.holder;
  }

  /** Remembers who answered; a session that escalated stays on the target. */
  record(tenant: string, session: string | null, holder: SessionHolder): void {
    if (session === null) return;
    const kept = this.holder(tenant, session) === "target" ? "target" : holder;
    this.forget(tenant, session);
    const own = this.tenants.get(tenant) ?? new Map<string, Entry>();
    this.tenants.set(tenant, own);
    own.set(session, { holder: kept, touched: this.now() });
    this.count += 1;
    if (this.count > this.most) this.makeRoom();
  }

  private makeRoom(): void {
    let largest = "";
    let held = 0;
    for (const [tenant, own] of this.tenants) {
      if (own.size > held) [largest, held] = [tenant, own.size];
    }
    const oldest = this.tenants.get(largest)?.keys().next().value;
    if (oldest !== undefined) this.forget(largest, oldest);
  }

  private forget(tenant: string, session: string): void {
    const own = this.tenants.get(tenant);
    if (!own?.delete(session)) return;
    this.count -= 1;
    if (own.size === 0) this.tenants.delete(tenant);
  }
}
