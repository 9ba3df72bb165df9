/** Who answered last in a session; within one the served model does not go back to the pilot by itself. */
export type SessionHolder = "pilot" | "target";

interface Entry {
  holder: SessionHolder;
  touched: number;
}

/** Bounded and forgetful: the session used longest ago goes first, and none stays beyond its idle time. */
export class Sessions {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly most = 10_000,
    private readonly idleMs = 3_600_000,
    private readonly now: () => number = Date.now,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  holder(tenant: string, session: string | null): SessionHolder | null {
    if (session === null) return null;
    const key = sessionKey(tenant, session);
    const entry = this.entries.get(key);
    if (!entry) return null;
    if (this.now() - entry.touched > this.idleMs) {
      this.entries.delete(key);
      return null;
    }
    return entry.holder;
  }

  /** Remembers who answered; a session that escalated stays on the target. */
  record(tenant: string, session: string | null, holder: SessionHolder): void {
    if (session === null) return;
    const key = sessionKey(tenant, session);
    const kept = this.holder(tenant, session) === "target" ? "target" : holder;
    this.entries.delete(key);
    this.entries.set(key, { holder: kept, touched: this.now() });
    if (this.entries.size <= this.most) return;
    const oldest = this.entries.keys().next().value;
    if (oldest !== undefined) this.entries.delete(oldest);
  }
}

function sessionKey(tenant: string, session: string): string {
  return `${tenant.length}:${tenant}${session}`;
}
