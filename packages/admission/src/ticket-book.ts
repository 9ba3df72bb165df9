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
/** A tenant begins with this much trust, gains one for each ticket it brings back and loses one for each it lets lapse. */
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
    const purse = this.purses.get(place.tenant) ?? { out: 0, holding: 0, trust: FIRST_TRUST };
    if (this.tickets.size >= this.limits.most || purse.out >= this.limits.mostOfTenant) return null;
    const holds = purse.holding < purse.trust;
    const lifeMs = retryAfterMs + TICKET_GRACE_MS;
    const goodUntil = this.clock.now() + lifeMs;
    const ticket = { ...place, id: randomBytes(16).toString("base64url"), holds, goodUntil };
    purse.out += 1;
    if (holds) purse.holding += 1;
    this.purses.set(place.tenant, purse);
    const cancel = this.clock.after(lifeMs, () => {
      this.take(ticket, -1);
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
    this.take(kept.ticket, 1);
    return kept.ticket;
  }

  private take(ticket: Ticket, gained: 1 | -1): void {
    this.tickets.delete(ticket.id);
    const purse = this.purses.get(ticket.tenant);
    if (!purse) return;
    purse.out -= 1;
    if (ticket.holds) purse.holding -= 1;
    purse.trust = Math.min(MOST_TRUST, Math.max(0, purse.trust + gained));
    // Who begins anew has the first trust again: forgetting must neither be a punishment nor wash one away.
    if (purse.out === 0 && purse.trust === FIRST_TRUST) this.purses.delete(ticket.tenant);
  }
}
