import type { Admission, AdmissionAsk, Admitted, BoundAsk } from "./admission";
import { BoundBook } from "./bound-book";
import { type Clock, systemClock } from "./clock";
import { EngineRoom } from "./engine-room";
import { type Kept, KeptPlaces } from "./kept-places";
import { NO_LIMITS, type Pull, type PullLimits } from "./pull-window";
import { describeShortfall } from "./refusal";
import { RetryBuffer } from "./retry-buffer";
import type { TicketLimits } from "./ticket-book";
import { type Place, WaitingRoom } from "./waiting-room";

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

const defaultTickets: TicketLimits = { most: 1_024, mostOfTenant: 64 };
const ONE: Pull = { rows: 1, tokens: 0 };
/** An engine that sends back more than this is handed too much. */
const MOST_RETRIES = 256;

/**
 * One engine's door: a ledger, and a bounded queue in front of it.
 *
 * Tenants take turns. Who stands at the head and does not fit yet is overtaken only by what it would leave free if it were let
 * in: those that overtake it hold together at most `capacity - bytes` of the head. So small requests flow past a large one, and
 * the large one waits for nobody who came to run after it stood at the head. Where a ticket stands there, whose holder is away,
 * that holds for the first request behind it as well.
 */
export class AdmissionGate {
  private readonly engine: EngineRoom;
  private readonly room = new WaitingRoom<Waiting, Kept>();
  private readonly places: KeptPlaces;
  /** What the engine sent back; nobody is let in while it holds anything. */
  readonly retries: RetryBuffer;
  private readonly bounds = new BoundBook();
  private waitingBytes = 0;
  private granting = false;

  constructor(
    capacityBytes: number,
    private readonly maxWaiting: number,
    private readonly clock: Clock = systemClock,
    tickets: TicketLimits = defaultTickets,
    pull: PullLimits = NO_LIMITS,
  ) {
    const changed = () => this.grant();
    this.engine = new EngineRoom(capacityBytes, pull, clock, changed);
    this.retries = new RetryBuffer(MOST_RETRIES, clock, changed);
    this.places = new KeptPlaces(this.room, tickets, clock, changed);
  }

  get capacity(): number {
    return this.engine.capacity;
  }

  get available(): number {
    return this.engine.available;
  }

  get reserved(): number {
    return this.engine.reserved;
  }

  get waiting(): number {
    return this.room.size;
  }

  /** What the engine has been handed and not given back. */
  get handed(): Readonly<Pull> {
    return this.engine.handed;
  }

  /** Places kept for requests that were refused. */
  get ticketsOut(): number {
    return this.places.size;
  }

  /** Of these, a tenant's whose bytes are kept free. */
  placesHeldBy(tenant: string): number {
    return this.places.heldBy(tenant);
  }

  measure(capacityBytes: number): void {
    this.engine.measure(capacityBytes);
    this.grant();
  }

  /** Never rejects. */
  admit(ask: AdmissionAsk): Promise<Admission> {
    if (ask.signal?.aborted) return Promise.resolve({ outcome: "gone" });
    if (ask.bytes > this.engine.capacity) return Promise.resolve(this.refuse(ask.bytes, null));
    const place = ask.ticket ? this.places.redeem(ask.ticket, ask.tenant, ask.bytes) : null;
    if (this.room.head() === null) {
      const reservation = this.reserve(ask.bytes, ask.pull, []);
      if (reservation) {
        if (place) this.places.settle(ask.tenant, "admitted");
        this.room.forgetIdle(ask.tenant);
        return Promise.resolve({ outcome: "admitted", reservation, waited_ms: 0 });
      }
    }
    return this.wait(ask, place);
  }

  /**
   * Room for a request by its bound, for which it may wait its turn: null says nothing of the request, whose exact size may fit.
   * Nobody is made to wait for the part of a bound that is not needed: what was let in and what stands at the head are then made
   * exact.
   */
  async admitBound(ask: BoundAsk): Promise<{ reservation: Admitted; waited_ms: number } | null> {
    if (ask.signal?.aborted || ask.bytes > this.engine.available || this.bytesAreShort) return null;
    if (this.room.head() === null) {
      const reservation = this.reserve(ask.bytes, ask.pull, []);
      if (reservation) return { reservation: this.bounds.hold(reservation, ask.exact), waited_ms: 0 };
    }
    const admission = await this.wait({ ...ask, keepsPlace: false }, null, ask.exact);
    return admission.outcome === "admitted" ? admission : null;
  }

  /** Who stands at the head waits for bytes: what may go past it is decided by exact sizes. */
  private get bytesAreShort(): boolean {
    const head = this.room.head();
    return head !== null && ("request" in head ? head.request : head.ticket).bytes > this.engine.available;
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
    this.bounds.settle();
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
    kept: Kept | null,
    exact: (() => Promise<number>) | null = null,
  ): Promise<Admission> {
    return new Promise((resolve) => {
      let cancel: (() => void) | null = null;
      const { tenant, bytes, keepsPlace = true } = ask;
      const { turn, order } = kept ?? this.room.place(tenant);
      const entry: Waiting = {
        tenant,
        bytes,
        exact,
        settled: false,
        pull: ask.pull ?? ONE,
        turn,
        order,
        overtaken: kept?.overtaken ?? { bytes: 0 },
        since: this.clock.now(),
        keepsPlace,
        settle: (admission) => {
          entry.settled = true;
          if (kept) this.places.settle(tenant, admission.outcome);
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
      const promisedMs = kept === null ? 0 : kept.goodUntil - this.clock.now();
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
    if (("request" in head ? head.request : head.ticket).bytes > this.engine.capacity) {
      this.dropImpossible(head);
      return true;
    }
    if ("request" in head && head.request.bytes <= this.engine.available) {
      if (this.retries.size > 0 || !this.engine.takes(head.request.pull)) return false;
      this.room.advance(head.request);
      return this.letIn(head.request, []);
    }
    if ("request" in head) {
      this.settleBounds(head.request);
      return this.letPast([head.request]);
    }
    const next = this.room.firstRequest();
    if (!next) return false;
    this.settleBounds(next);
    if (next.bytes <= this.spareBeside([head.ticket])) return this.letIn(next, [head.ticket]);
    // Behind one that is away the next would never find its room free, were it not kept free as well.
    return this.letPast(this.fitTogether(head.ticket, next) ? [head.ticket, next] : [head.ticket]);
  }

  private fitTogether(one: Place, other: Place): boolean {
    return one.bytes + other.bytes <= this.engine.capacity;
  }

  /** What others may take without making any of these wait longer. */
  private spareBeside(places: readonly Place[]): number {
    const { available, capacity } = this.engine;
    const wanted = places.reduce((sum, place) => sum + place.bytes, 0);
    return Math.min(available, ...places.map((place) => capacity - wanted - place.overtaken.bytes));
  }

  /** Lets the next in turn go past these that fits beside them. */
  private letPast(places: readonly [Place, ...Place[]]): boolean {
    const next = this.room.behind(places.at(-1) ?? places[0], this.spareBeside(places));
    return next !== undefined && this.letIn(next, places);
  }

  /** The engine was measured smaller than it was when this one came. */
  private dropImpossible(head: { request: Waiting } | { ticket: Kept }): void {
    if ("ticket" in head) {
      this.places.drop(head.ticket.id);
      return;
    }
    this.takeOut(head.request);
    head.request.settle(this.refuse(head.request.bytes, null));
  }

  private letIn(entry: Waiting, overtook: readonly Place[]): boolean {
    const reservation = this.reserve(entry.bytes, entry.pull, overtook);
    if (!reservation) return false;
    this.takeOut(entry);
    entry.settle({
      outcome: "admitted",
      reservation: entry.exact ? this.bounds.hold(reservation, entry.exact) : reservation,
      waited_ms: Math.max(0, this.clock.now() - entry.since),
    });
    return true;
  }

  private reserve(bytes: number, pull: Pull = ONE, overtook: readonly Place[]): Admitted | null {
    if (this.retries.size > 0) return null;
    return this.engine.reserve(
      bytes,
      pull,
      overtook.map(({ overtaken }) => overtaken),
    );
  }

  private refuse(bytes: number, place: Waiting | null): Admission {
    const { available, capacity } = this.engine;
    const retryAfterMs = this.engine.retryMs(this.waitingBytes + bytes);
    const ticket = place && bytes <= capacity ? this.places.keep(place, retryAfterMs) : null;
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
}
