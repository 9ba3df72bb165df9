import { randomBytes } from "node:crypto";
import type { Clock } from "./clock";

/** A place in the queue that is kept for a request which was refused. */
export interface Ticket {
  readonly id: string;
  readonly tenant: string;
  readonly bytes: number;
  readonly turn: number;
  readonly order: number;
  /** On the gate's clock: whoever brings it back may wait until then at least. */
  readonly goodUntil: number;
  /** Its bytes are kept free once its turn has come; without that only its turn is kept. */
  readonly holds: boolean;
}

export interface TicketLimits {
  /** Tickets that may be out at a time, of all tenants and of one. */
  most: number;
  mostOfTenant: number;
}

/** So long beyond the promised moment a ticket is good. */
export const TICKET_GRACE_MS = 30_000;
/**
 * A tenant begins with this much trust, gains one for each request that it brought back with its ticket and that was let in, and
 * loses one for each ticket that it lets lapse or leaves with.
 */
const FIRST_TRUST = 1;
const MOST_TRUST = 8;

interface Kept {
  ticket: Ticket;
  cancel: () => void;
}

interface Purse {
  out: number;
  holding: number;
  trust: number;
}

/**
 * Tickets that are out. Memory is kept free only for tenants that come back with their tickets: a client that knows nothing of
 * them must not leave room idle behind every refusal.
 */
export class TicketBook {
  private readonly tickets = new Map<string, Kept>();
  private readonly purses = new Map<string, Purse>();

  constructor(
    private readonly limits: TicketLimits,
    private readonly clock: Clock,
    /** Told of every ticket that lapsed. */
    private readonly onLapse: (ticket: Ticket) => void,
  ) {}

  get size(): number {
    return this.tickets.size;
  }

  /** Null where too many are out. */
  issue(place: Omit<Ticket, "id" | "holds" | "goodUntil">, retryAfterMs: number): Ticket | null {
    const purse = this.purses.get(place.tenant) ?? newPurse();
    if (this.tickets.size >= this.limits.most || purse.out >= this.limits.mostOfTenant) return null;
    const holds = purse.holding < purse.trust;
    const lifeMs = retryAfterMs + TICKET_GRACE_MS;
    const goodUntil = this.clock.now() + lifeMs;
    const ticket = { ...place, id: randomBytes(16).toString("base64url"), holds, goodUntil };
    const holding = purse.holding + (holds ? 1 : 0);
    this.store(place.tenant, { ...purse, out: purse.out + 1, holding });
    const cancel = this.clock.after(lifeMs, () => {
      this.take(ticket);
      this.trust(ticket.tenant, "broken");
      this.onLapse(ticket);
    });
    this.tickets.set(ticket.id, { ticket, cancel });
    return ticket;
  }

  /** The tenant's own ticket for at least so many bytes, which is then used up; null for any other. */
  redeem(id: string, tenant: string, bytes: number): Ticket | null {
    const kept = this.tickets.get(id);
    if (!kept || kept.ticket.tenant !== tenant || kept.ticket.bytes < bytes) return null;
    kept.cancel();
    this.take(kept.ticket);
    return kept.ticket;
  }

  /** What became of a ticket's promise: its request was let in, or its tenant did not come, or came and left. */
  trust(tenant: string, promise: "kept" | "broken"): void {
    const purse = this.purses.get(tenant) ?? newPurse();
    const trust = purse.trust + (promise === "kept" ? 1 : -1);
    this.store(tenant, { ...purse, trust: Math.min(MOST_TRUST, Math.max(0, trust)) });
  }

  /** How many places of a tenant have their bytes kept free. */
  heldBy(tenant: string): number {
    return this.purses.get(tenant)?.holding ?? 0;
  }

  private take(ticket: Ticket): void {
    this.tickets.delete(ticket.id);
    const purse = this.purses.get(ticket.tenant) ?? newPurse();
    const holding = purse.holding - (ticket.holds ? 1 : 0);
    this.store(ticket.tenant, { ...purse, out: purse.out - 1, holding });
  }

  private store(tenant: string, purse: Purse): void {
    // Who begins anew has the first trust again: forgetting must neither be a punishment nor wash one away.
    if (purse.out === 0 && purse.trust === FIRST_TRUST) this.purses.delete(tenant);
    else this.purses.set(tenant, purse);
  }
}

function newPurse(): Purse {
  return { out: 0, holding: 0, trust: FIRST_TRUST };
}
