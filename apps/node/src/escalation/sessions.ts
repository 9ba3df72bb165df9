/** Who answered last in a session; within one the served model goes back to the pilot only after the route's `hold_turns`. */
export type SessionHolder = "pilot" | "target";

interface Entry {
  holder: SessionHolder;
  /** Answers of the target since the session came to it. */
  turns: number;
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

  /** `holdTurns`: after so many answers of the target the session is nobody's again, and the pilot is asked; null: never. */
  holder(tenant: string, session: string | null, holdTurns: number | null = null): SessionHolder | null {
    if (session === null) return null;
    const entry = this.tenants.get(tenant)?.get(session);
    if (!entry) return null;
    if (this.now() - entry.touched > this.idleMs) {
      this.forget(tenant, session);
      return null;
    }
    if (entry.holder === "target" && holdTurns !== null && entry.turns >= holdTurns) return null;
    return entry.holder;
  }

  /** Remembers who answered; a session that escalated stays on the target, for `holdTurns` answers where there is a bound. */
  record(
    tenant: string,
    session: string | null,
    holder: SessionHolder,
    holdTurns: number | null = null,
  ): void {
    if (session === null) return;
    const held = this.holder(tenant, session, holdTurns);
    const kept = held === "target" ? "target" : holder;
    const before = held === "target" ? (this.tenants.get(tenant)?.get(session)?.turns ?? 0) : 0;
    const turns = kept === "target" ? before + 1 : 0;
    this.forget(tenant, session);
    const own = this.tenants.get(tenant) ?? new Map<string, Entry>();
    this.tenants.set(tenant, own);
    own.set(session, { holder: kept, turns, touched: this.now() });
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
