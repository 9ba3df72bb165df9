import type { InTurn } from "./turn-heap";

/**
 * Whose turn it is among tenants: start-time fair queueing with every request of the same weight. Each request gets a turn
 * when it joins; a tenant's requests have growing turns, and one that joins late begins at the present turn, not behind
 * everything that others have queued. Within a turn tenants keep the order in which they joined.
 */
export class TurnOrder {
  private readonly last = new Map<string, InTurn>();
  private present = 0;
  private joined = 0;

  next(tenant: string): InTurn {
    const before = this.last.get(tenant);
    const place = {
      turn: Math.max(this.present, before?.turn ?? 0) + 1,
      order: before?.order ?? this.joined++,
    };
    this.last.set(tenant, place);
    return place;
  }

  /** What the tenant sends from now on comes after this place. */
  remember(tenant: string, { turn, order }: InTurn): void {
    const last = this.last.get(tenant);
    if (!last || last.turn < turn) this.last.set(tenant, { turn, order: last?.order ?? order });
  }

  /** A request of this turn was at the head of the queue and left it. */
  reached(turn: number): void {
    this.present = Math.max(this.present, turn);
  }

  /** A tenant that waits for nothing is remembered no longer, and owes nothing for turns it gave up. */
  forget(tenant: string): void {
    this.last.delete(tenant);
  }
}
