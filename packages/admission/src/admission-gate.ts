import { type Clock, systemClock } from "./clock";
import { Ledger, type Reservation } from "./ledger";
import { NO_LIMITS, type Pull, type PullLimits, PullWindow } from "./pull-window";
import { describeShortfall, type Shortfall } from "./refusal";
import { ReleaseForecast } from "./release-forecast";
import { RetryBuffer } from "./retry-buffer";
import { type Ticket, TicketBook, type TicketLimits } from "./ticket-book";
import { type Place, WaitingRoom } from "./waiting-room";

export type Admission =
  | { outcome: "admitted"; reservation: Admitted; waited_ms: number }
  | { outcome: "refused"; shortfall: Shortfall }
  | { outcome: "gone" };

/** Room on an engine, and a place among what the engine has been handed. */
export interface Admitted extends Reservation {
  /** The engine has read the prompt. */
  started(): void;
}

export interface AdmissionAsk {
  tenant: string;
  bytes: number;
  pull?: Pull;
  /** How long it may wait for its turn. */
  deadlineMs: number;
  /** Aborted when the client went away: it leaves the queue at once. */
  signal?: AbortSignal;
  /** Of an earlier refusal: its place in the queue is taken up again. */
  ticket?: string | null;
  /** Whether a refusal keeps a place; not for what does without instead of coming back. */
  keepsPlace?: boolean;
}

/** Bytes that a request cannot exceed, and how to learn what it needs in fact. */
export interface BoundAsk extends Omit<AdmissionAsk, "ticket" | "keepsPlace"> {
  /** Asked at most once, and only when somebody else would have to wait for the difference. */
  exact: () => Promise<number>;
}

interface Waiting extends Place {
  bytes: number;
  /** Of one that waits by a bound; null once it was asked. */
  exact: (() => Promise<number>) | null;
  pull: Pull;
  since: number;
  keepsPlace: boolean;
  settled: boolean;
  settle: (admission: Admission) => void;
}

type Kept = Ticket & Place;

const defaultTickets: TicketLimits = { most: 1_024, mostOfTenant: 64 };
const ONE: Pull = { rows: 1, tokens: 0 };
/** An engine that sends back more than this is handed too much. */
const MOST_RETRIES = 256;

/**
 * One engine's door: a ledger, and a bounded queue in front of it.
 *
 * Tenants take turns. Who stands at the head and does not fit yet is overtaken only by what it would leave free if it were let
 * in: those that overtake it hold together at most `capacity - bytes` of the head. So small requests flow past a large one, and
 * the large one waits for nobody who came to run after it stood at the head.
 */
export class AdmissionGate {
  private readonly ledger: Ledger;
  private readonly room = new WaitingRoom<Waiting, Kept>();
  private readonly forecast = new ReleaseForecast();
  private readonly tickets: TicketBook;
  private readonly window: PullWindow;
  /** What the engine sent back; nobody is let in while it holds anything. */
  readonly retries: RetryBuffer;
  private readonly kept = new Map<string, Kept>();
  /** Reservations by a bound that nobody has made exact yet. */
  private readonly bounds = new Map<Reservation, () => Promise<number>>();
  private waitingBytes = 0;
  private granting = false;

  constructor(
    capacityBytes: number,
    private readonly maxWaiting: number,
    private readonly clock: Clock = systemClock,
    tickets: TicketLimits = defaultTickets,
    pull: PullLimits = NO_LIMITS,
  ) {
    this.ledger = new Ledger(capacityBytes);
    this.window = new PullWindow(pull);
    this.retries = new RetryBuffer(MOST_RETRIES, clock, () => this.grant());
    this.tickets = new TicketBook(tickets, clock, (ticket) => {
      this.dropKept(ticket.id);
      this.grant();
    });
  }

  get capacity(): number {
    return this.ledger.capacity;
  }

  get available(): number {
    return this.ledger.available;
  }

  get reserved(): number {
    return this.ledger.reserved;
  }

  get waiting(): number {
    return this.room.size;
  }

  /** What the engine has been handed and not given back. */
  get handed(): Readonly<Pull> {
    return this.window.handed;
  }

  /** Places kept for requests that were refused. */
  get ticketsOut(): number {
    return this.tickets.size;
  }

  measure(capacityBytes: number): void {
    this.ledger.measure(capacityBytes);
    this.grant();
  }

  /** Never rejects. */
  admit(ask: AdmissionAsk): Promise<Admission> {
    if (ask.signal?.aborted) return Promise.resolve({ outcome: "gone" });
    if (ask.bytes > this.ledger.capacity) return Promise.resolve(this.refuse(ask.bytes, null));
    const ticket = ask.ticket ? this.tickets.redeem(ask.ticket, ask.tenant, ask.bytes) : null;
    const overtaken = (ticket && this.dropKept(ticket.id)?.overtaken) ?? { bytes: 0 };
    if (this.room.head() === null) {
      const reservation = this.reserve(ask.bytes, ask.pull ?? ONE, null);
      if (reservation) return Promise.resolve({ outcome: "admitted", reservation, waited_ms: 0 });
    }
    return this.wait(ask, ticket, overtaken);
  }

  /**
   * Room for a request by its bound, for which it may wait its turn: null says nothing of the request, whose exact size may fit.
   * Nobody is made to wait for the part of a bound that is not needed: what was let in and what stands at the head are then made
   * exact.
   */
  async admitBound(ask: BoundAsk): Promise<{ reservation: Admitted; waited_ms: number } | null> {
    if (ask.signal?.aborted || ask.bytes > this.ledger.available) return null;
    if (this.room.head() === null) {
      const reservation = this.reserve(ask.bytes, ask.pull ?? ONE, null);
      if (reservation) return { reservation: this.bounded(reservation, ask.exact), waited_ms: 0 };
    }
    const admission = await this.wait({ ...ask, keepsPlace: false }, null, { bytes: 0 }, ask.exact);
    return admission.outcome === "admitted" ? admission : null;
  }

  private bounded(reservation: Admitted, exact: () => Promise<number>): Admitted {
    const bounded: Admitted = {
      get bytes() {
        return reservation.bytes;
      },
      shrink: (bytes) => reservation.shrink(bytes),
      started: () => reservation.started(),
      release: () => {
        this.bounds.delete(bounded);
        reservation.release();
      },
    };
    this.bounds.set(bounded, exact);
    return bounded;
  }

  /** Bytes are short: whoever holds or wants more than it needs is counted. */
  private settleBounds(head: Waiting | null): void {
    const exact = head?.exact;
    if (head && exact) {
      head.exact = null;
      exact().then(
        (bytes) => this.resize(head, bytes),
        () => {},
      );
    }
    for (const [reservation, exact] of this.bounds) {
      this.bounds.delete(reservation);
      // Where the exact size cannot be had the bound stands: it is never too little.
      exact().then(
        (bytes) => reservation.shrink(bytes),
        () => {},
      );
    }
  }

  private resize(entry: Waiting, bytes: number): void {
    if (entry.settled || bytes >= entry.bytes) return;
    this.takeOut(entry);
    entry.bytes = bytes;
    this.enter(entry);
    this.grant();
  }

  private wait(
    ask: AdmissionAsk,
    ticket: Ticket | null,
    overtaken: { bytes: number },
    exact: (() => Promise<number>) | null = null,
  ): Promise<Admission> {
    return new Promise((resolve) => {
      let cancel: (() => void) | null = null;
      const { tenant, bytes, keepsPlace = true } = ask;
      const { turn, order } = ticket ?? this.room.place(tenant);
      const entry: Waiting = {
        tenant,
        bytes,
        exact,
        settled: false,
        pull: ask.pull ?? ONE,
        turn,
        order,
        overtaken,
        since: this.clock.now(),
        keepsPlace,
        settle: (admission) => {
          entry.settled = true;
          cancel?.();
          ask.signal?.removeEventListener("abort", leave);
          resolve(admission);
        },
      };
      const leave = () => {
        this.takeOut(entry);
        entry.settle({ outcome: "gone" });
        this.grant();
      };
      this.enter(entry);
      this.grant();
      if (entry.settled) return;
      if (ask.deadlineMs <= 0) return this.turnAway(entry);
      if (this.room.size > this.maxWaiting) this.turnAway(this.room.givesWayTo(tenant) ?? entry);
      if (entry.settled) return;
      // A number is a likely one: who was told to come back by then is not sent away for coming a little too early.
      const promisedMs = ticket === null ? 0 : ticket.goodUntil - this.clock.now();
      cancel = this.clock.after(Math.max(ask.deadlineMs, promisedMs), () => this.turnAway(entry));
      ask.signal?.addEventListener("abort", leave, { once: true });
    });
  }

  private enter(entry: Waiting): void {
    this.room.enter(entry);
    this.waitingBytes += entry.bytes;
  }

  private takeOut(entry: Waiting): void {
    this.room.leave(entry);
    this.waitingBytes -= entry.bytes;
  }

  /** Refuses one that waits; who stood behind it may fit. */
  private turnAway(entry: Waiting): void {
    this.takeOut(entry);
    entry.settle(this.refuse(entry.bytes, entry.keepsPlace ? entry : null));
    this.grant();
  }

  /** Lets in whoever may go. Settling one runs no caller's code, so that nothing changes underneath. */
  private grant(): void {
    if (this.granting) return;
    this.granting = true;
    try {
      while (this.grantOne());
    } finally {
      this.granting = false;
    }
  }

  private grantOne(): boolean {
    const head = this.room.head();
    if (head === null) return false;
    if (("request" in head ? head.request : head.ticket).bytes > this.ledger.capacity) {
      this.dropImpossible(head);
      return true;
    }
    if ("request" in head && head.request.bytes <= this.ledger.available) {
      if (!this.mayPull(head.request.pull)) return false;
      this.room.advance(head.request);
      return this.letIn(head.request, null);
    }
    this.settleBounds("request" in head ? head.request : null);
    const first = "request" in head ? head.request : head.ticket;
    const { available, capacity } = this.ledger;
    const spare = Math.min(available, capacity - first.bytes - first.overtaken.bytes);
    const next = this.room.behind(first, spare);
    return next !== undefined && this.letIn(next, first);
  }

  /** The engine was measured smaller than it was when this one came. */
  private dropImpossible(head: { request: Waiting } | { ticket: Kept }): void {
    if ("ticket" in head) {
      this.dropKept(head.ticket.id);
      return;
    }
    this.takeOut(head.request);
    head.request.settle(this.refuse(head.request.bytes, null));
  }

  private letIn(entry: Waiting, overtook: Place | null): boolean {
    const reservation = this.reserve(entry.bytes, entry.pull, overtook);
    if (!reservation) return false;
    this.takeOut(entry);
    entry.settle({
      outcome: "admitted",
      reservation: entry.exact ? this.bounded(reservation, entry.exact) : reservation,
      waited_ms: Math.max(0, this.clock.now() - entry.since),
    });
    return true;
  }

  private mayPull(pull: Pull): boolean {
    return this.retries.size === 0 && this.window.fits(pull);
  }

  private reserve(bytes: number, pull: Pull, overtook: Place | null): Admitted | null {
    if (!this.mayPull(pull)) return null;
    const reservation = this.ledger.reserve(bytes);
    if (!reservation) return null;
    const pulled = this.window.take(pull);
    if (overtook) overtook.overtaken.bytes += bytes;
    const held = this.forecast.hold(bytes, this.clock.now());
    let open = true;
    return {
      get bytes() {
        return reservation.bytes;
      },
      shrink: (smaller) => {
        const before = reservation.bytes;
        reservation.shrink(smaller);
        if (!open || reservation.bytes === before) return;
        held.shrink(reservation.bytes);
        if (overtook) overtook.overtaken.bytes -= before - reservation.bytes;
        this.grant();
      },
      started: () => {
        pulled.started();
        this.grant();
      },
      release: () => {
        if (!open) return;
        open = false;
        pulled.ended();
        held.release(this.clock.now());
        if (overtook) overtook.overtaken.bytes -= reservation.bytes;
        reservation.release();
        this.grant();
      },
    };
  }

  private refuse(bytes: number, place: Waiting | null): Admission {
    const { available, capacity } = this.ledger;
    // Where the bytes are there and the engine's hands are full, the next that ends makes room.
    const missing = Math.max(this.waitingBytes + bytes - available, this.window.handed.rows > 0 ? 1 : 0);
    const retryAfterMs = this.forecast.retryMs(missing, this.clock.now());
    const ticket = place && bytes <= capacity ? this.keepPlace(place, retryAfterMs) : null;
    return {
      outcome: "refused",
      shortfall: describeShortfall({
        needed: bytes,
        available,
        capacity,
        retryAfterMs,
        ticket,
        measuredAt: this.clock.date(),
      }),
    };
  }

  private keepPlace({ tenant, bytes, turn, order, overtaken }: Waiting, retryAfterMs: number): string | null {
    const ticket = this.tickets.issue({ tenant, bytes, turn, order }, retryAfterMs);
    if (!ticket) return null;
    if (ticket.holds) {
      const kept: Kept = { ...ticket, overtaken };
      this.kept.set(ticket.id, kept);
      this.room.keep(kept);
    }
    return ticket.id;
  }

  private dropKept(id: string): Kept | undefined {
    const kept = this.kept.get(id);
    if (!kept) return undefined;
    this.kept.delete(id);
    this.room.drop(kept);
    return kept;
  }
}
