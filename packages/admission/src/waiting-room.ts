import { SizeClasses } from "./size-classes";
import { TenantLines } from "./tenant-lines";
import { type InTurn, isBefore, TurnHeap } from "./turn-heap";
import { TurnOrder } from "./turn-order";

/** Somebody who stands in the queue: a request, or a ticket that stands for one. */
export interface Place extends InTurn {
  readonly tenant: string;
  readonly bytes: number;
  /** Bytes held by those that were let in while this one stood at the head. */
  readonly overtaken: { bytes: number };
}

/** Who waits, in the order of turns, and who of them may go first when the head does not fit. */
export class WaitingRoom<R extends Place, T extends Place> {
  private readonly turns = new TurnOrder();
  private readonly requests = new SizeClasses<R>();
  private readonly tickets = new TurnHeap<T>();
  private readonly lines = new TenantLines<R>();
  /** Tickets that are out, by tenant, whether their room is kept or not. */
  private readonly ticketsOut = new Map<string, number>();

  get size(): number {
    return this.requests.size;
  }

  /** A new place behind the tenant's others. */
  place(tenant: string): InTurn {
    return this.turns.next(tenant);
  }

  enter(request: R): void {
    this.requests.add(request);
    this.lines.add(request);
  }

  leave(request: R): void {
    this.requests.remove(request);
    this.lines.remove(request);
    this.forgetIdle(request.tenant);
  }

  /** A ticket keeps its turn: whatever the tenant sends later stands behind it, also when nothing else of it waits. */
  ticketOut({ tenant, turn, order }: Place): void {
    this.ticketsOut.set(tenant, (this.ticketsOut.get(tenant) ?? 0) + 1);
    this.turns.remember(tenant, { turn, order });
  }

  ticketBack(tenant: string): void {
    const left = (this.ticketsOut.get(tenant) ?? 0) - 1;
    if (left > 0) this.ticketsOut.set(tenant, left);
    else this.ticketsOut.delete(tenant);
  }

  /** Forgets the turns of a tenant of which nothing waits and no ticket is out. */
  forgetIdle(tenant: string): void {
    if (this.lines.lengthOf(tenant) === 0 && !this.ticketsOut.has(tenant)) this.turns.forget(tenant);
  }

  keep(ticket: T): void {
    this.tickets.push(ticket);
  }

  drop(ticket: T): void {
    this.tickets.remove(ticket);
  }

  /** Whose turn it is. A ticket stands at the head as a request would, and nobody takes its room. */
  head(): { request: R } | { ticket: T } | null {
    const request = this.requests.first();
    const ticket = this.tickets.peek();
    if (ticket && (!request || isBefore(ticket, request))) return { ticket };
    return request ? { request } : null;
  }

  /** The request whose turn comes first, whatever tickets stand before it. */
  firstRequest(): R | undefined {
    return this.requests.first();
  }

  /** The head was let in. */
  advance(place: Place): void {
    this.turns.reached(place.turn);
  }

  /** The next in turn that takes at most so many bytes, the head left out. */
  behind(head: Place, bytes: number): R | undefined {
    return this.requests.firstWithin(bytes, head as R);
  }

  /** Who gives way to one more of this tenant when the queue is full: the newest of the longest line, if that is longer. */
  givesWayTo(tenant: string): R | undefined {
    return this.lines.longest > this.lines.lengthOf(tenant) ? this.lines.newestOfLongest() : undefined;
  }
}
