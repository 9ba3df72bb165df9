import { FairQueue } from "./fair-queue";
import { Ledger, type Reservation } from "./ledger";
import { describeShortfall, type Shortfall } from "./refusal";

export type Admission =
  | { outcome: "admitted"; reservation: Reservation; waited_ms: number }
  | { outcome: "refused"; shortfall: Shortfall }
  | { outcome: "gone" };

export interface AdmissionAsk {
  tenant: string;
  bytes: number;
  /** How long it may wait for its turn. */
  deadlineMs: number;
  /** Aborted when the client went away: it leaves the queue at once. */
  signal?: AbortSignal;
}

interface Waiting {
  ask: AdmissionAsk;
  since: number;
  settle: (admission: Admission) => void;
}

const SHORTEST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;

/** One engine's door: a ledger, and a bounded queue in front of it. Small requests never overtake a large one. */
export class AdmissionGate {
  private readonly ledger: Ledger;
  private readonly queue = new FairQueue<Waiting>();
  /** Moving average of how long reservations are held: the best guess of when room comes free. */
  private meanHeldMs = 1_000;

  constructor(
    capacityBytes: number,
    private readonly maxWaiting: number,
    private readonly now: () => number = Date.now,
  ) {
    this.ledger = new Ledger(capacityBytes);
  }

  get capacity(): number {
    return this.ledger.capacity;
  }

  get available(): number {
    return this.ledger.available;
  }

  get waiting(): number {
    return this.queue.size;
  }

  measure(capacityBytes: number): void {
    this.ledger.measure(capacityBytes);
    this.grant();
  }

  admit(ask: AdmissionAsk): Promise<Admission> {
    if (ask.signal?.aborted) return Promise.resolve({ outcome: "gone" });
    if (ask.bytes > this.ledger.capacity) return Promise.resolve(this.refuse(ask.bytes));
    const reservation = this.queue.size === 0 ? this.reserve(ask.bytes) : null;
    if (reservation) return Promise.resolve({ outcome: "admitted", reservation, waited_ms: 0 });
    if (this.queue.size >= this.maxWaiting || ask.deadlineMs <= 0) {
      return Promise.resolve(this.refuse(ask.bytes));
    }
    return this.wait(ask);
  }

  private wait(ask: AdmissionAsk): Promise<Admission> {
    return new Promise((resolve) => {
      const entry: Waiting = {
        ask,
        since: this.now(),
        settle: (admission) => {
          clearTimeout(timer);
          ask.signal?.removeEventListener("abort", leave);
          resolve(admission);
        },
      };
      const giveUp = (admission: Admission) => {
        if (!this.queue.remove(ask.tenant, entry)) return;
        entry.settle(admission);
        // The one that left may have stood in front of others that fit.
        this.grant();
      };
      const leave = () => giveUp({ outcome: "gone" });
      const timer = setTimeout(() => giveUp(this.refuse(ask.bytes)), ask.deadlineMs);
      ask.signal?.addEventListener("abort", leave, { once: true });
      this.queue.push(ask.tenant, entry);
      this.grant();
    });
  }

  private grant(): void {
    for (let next = this.queue.peek(); next; next = this.queue.peek()) {
      if (next.ask.bytes > this.ledger.capacity) {
        this.queue.shift();
        next.settle(this.refuse(next.ask.bytes));
        continue;
      }
      const reservation = this.reserve(next.ask.bytes);
      if (!reservation) return;
      this.queue.shift();
      next.settle({ outcome: "admitted", reservation, waited_ms: this.now() - next.since });
    }
  }

  private reserve(bytes: number): Reservation | null {
    const reservation = this.ledger.reserve(bytes);
    if (!reservation) return null;
    const since = this.now();
    let open = true;
    return {
      bytes,
      release: () => {
        if (!open) return;
        open = false;
        this.meanHeldMs += 0.2 * (this.now() - since - this.meanHeldMs);
        reservation.release();
        this.grant();
      },
    };
  }

  private refuse(bytes: number): Admission {
    const retry = Math.round(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, this.meanHeldMs)));
    const { available, capacity } = this.ledger;
    return {
      outcome: "refused",
      shortfall: describeShortfall(bytes, available, capacity, retry, new Date(this.now())),
    };
  }
}
