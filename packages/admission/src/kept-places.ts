import type { Admission } from "./admission";
import type { Clock } from "./clock";
import { type Ticket, TicketBook, type TicketLimits } from "./ticket-book";
import type { Place, WaitingRoom } from "./waiting-room";

export type Kept = Ticket & Place;

/** Places of refused requests: those whose room is kept stand in the queue themselves. */
export class KeptPlaces {
  private readonly tickets: TicketBook;
  private readonly standing = new Map<string, Kept>();

  constructor(
    private readonly room: Pick<
      WaitingRoom<Place, Kept>,
      "keep" | "drop" | "ticketOut" | "ticketBack" | "forgetIdle"
    >,
    limits: TicketLimits,
    clock: Clock,
    /** Told when one lapsed. */
    onLapse: () => void,
  ) {
    this.tickets = new TicketBook(limits, clock, (ticket) => {
      this.drop(ticket.id);
      this.room.ticketBack(ticket.tenant);
      this.room.forgetIdle(ticket.tenant);
      onLapse();
    });
  }

  get size(): number {
    return this.tickets.size;
  }

  /** The ticket for a place, or null where too many are out. */
  keep(place: Place, retryAfterMs: number): string | null {
    const { tenant, bytes, turn, order, overtaken } = place;
    const ticket = this.tickets.issue({ tenant, bytes, turn, order }, retryAfterMs);
    if (!ticket) return null;
    this.room.ticketOut(place);
    if (ticket.holds) {
      const kept = { ...ticket, overtaken };
      this.standing.set(ticket.id, kept);
      this.room.keep(kept);
    }
    return ticket.id;
  }

  /**
   * The place that a tenant's own ticket kept, taken up again; null for any other. Its tenant's turns are remembered until the
   * request has left the queue, or was let in without standing in it.
   */
  redeem(id: string, tenant: string, bytes: number): Kept | null {
    const ticket = this.tickets.redeem(id, tenant, bytes);
    if (!ticket) return null;
    this.room.ticketBack(tenant);
    return { ...ticket, overtaken: this.drop(id)?.overtaken ?? { bytes: 0 } };
  }

  /** What became of a place that was taken up again: who leaves before it is let in has kept it free for nothing. */
  settle(tenant: string, outcome: Admission["outcome"]): void {
    if (outcome === "admitted") this.tickets.trust(tenant, "kept");
    if (outcome === "gone") this.tickets.trust(tenant, "broken");
  }

  heldBy(tenant: string): number {
    return this.tickets.heldBy(tenant);
  }

  drop(id: string): Kept | undefined {
    const kept = this.standing.get(id);
    if (!kept) return undefined;
    this.standing.delete(id);
    this.room.drop(kept);
    return kept;
  }
}
