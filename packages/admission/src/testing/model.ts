import type { Admission } from "../admission";
import { AdmissionGate } from "../admission-gate";
import type { Reservation } from "../ledger";
import { VirtualClock } from "./virtual-clock";

export type Engine = "pilot" | "target";
export const TENANTS = ["a", "b", "c"] as const;
export const ENGINES: readonly Engine[] = ["pilot", "target"];

/** A request as its client and the gateway know it. */
export interface Client {
  tenant: string;
  bytes: number;
  engine: Engine;
  abort: AbortController;
  deadlineAt: number;
  outcome: Admission | null;
  reservation: Reservation | null;
  /** It came back with a ticket. */
  byTicket: boolean;
  /** Of an escalation: room that it holds on the pilot while it asks for the target's. */
  pilot: Reservation | null;
}

export interface OutTicket {
  engine: Engine;
  tenant: string;
  bytes: number;
  ticket: string;
}

/** Two engines' doors with all who came to them: the real gates, and beside them what must be true of them. */
export class World {
  readonly clock = new VirtualClock();
  readonly gates: Record<Engine, AdmissionGate>;
  clients: Client[] = [];
  tickets: OutTicket[] = [];
  /** Whose requests were let in after they came back with a ticket. */
  readonly broughtBack: Record<Engine, string[]> = { pilot: [], target: [] };
  steps = 0;

  constructor(readonly capacity: Record<Engine, number>) {
    const limits = { most: 20, mostOfTenant: 8 };
    this.gates = {
      pilot: new AdmissionGate(capacity.pilot, 40, this.clock, limits),
      target: new AdmissionGate(capacity.target, 40, this.clock, limits),
    };
  }

  ask(ask: {
    engine: Engine;
    tenant: string;
    bytes: number;
    deadlineMs: number;
    keepsPlace?: boolean;
    ticket?: string;
    pilot?: Reservation;
  }): void {
    const { engine, tenant, bytes, deadlineMs, ticket, pilot = null } = ask;
    const abort = new AbortController();
    const client: Client = {
      engine,
      tenant,
      bytes,
      abort,
      // With a ticket it may wait for as long as that is good: a minute at most.
      deadlineAt: this.clock.now() + Math.max(deadlineMs, ticket === undefined ? 0 : 60_000),
      outcome: null,
      reservation: null,
      byTicket: ticket !== undefined,
      pilot,
    };
    this.clients.push(client);
    const keepsPlace = ask.keepsPlace ?? pilot === null;
    const pending = this.gates[engine].admit({
      tenant,
      bytes,
      deadlineMs,
      ticket,
      keepsPlace,
      signal: abort.signal,
    });
    void pending.then((outcome) => {
      client.outcome = outcome;
      if (outcome.outcome === "admitted") client.reservation = outcome.reservation;
      if (outcome.outcome === "admitted" && client.byTicket) this.broughtBack[engine].push(tenant);
      if (outcome.outcome === "refused" && outcome.shortfall.ticket)
        this.tickets.push({ engine, tenant, bytes, ticket: outcome.shortfall.ticket });
    });
  }

  /** By a bound, which is `slack` bytes too large; the exact size is told when the gate asks. */
  askBound(ask: { engine: Engine; tenant: string; bytes: number; slack: number; deadlineMs: number }): void {
    const { engine, tenant, bytes, slack, deadlineMs } = ask;
    const abort = new AbortController();
    const client: Client = {
      engine,
      tenant,
      bytes: bytes + slack,
      abort,
      deadlineAt: this.clock.now() + deadlineMs,
      outcome: null,
      reservation: null,
      byTicket: false,
      pilot: null,
    };
    this.clients.push(client);
    const exact = () => Promise.resolve(bytes);
    const { signal } = abort;
    const pending = this.gates[engine].admitBound({
      tenant,
      bytes: bytes + slack,
      deadlineMs,
      signal,
      exact,
    });
    void pending.then((admitted) => {
      client.outcome = admitted ? { outcome: "admitted", ...admitted } : { outcome: "gone" };
      client.reservation = admitted?.reservation ?? null;
    });
  }

  waiting(engine: Engine): Client[] {
    return this.clients.filter((client) => client.engine === engine && client.outcome === null);
  }

  running(engine?: Engine): Client[] {
    return this.clients.filter(
      (client) => client.reservation !== null && (engine === undefined || client.engine === engine),
    );
  }

  /** Given back on every way out, so more than once. */
  finish(client: Client): void {
    client.reservation?.release();
    client.reservation?.release();
    client.pilot?.release();
    client.reservation = null;
    client.pilot = null;
  }

  /** What an escalation that got no room does: the pilot's answer goes out, and its room is given back. */
  private settleEscalations(): void {
    for (const client of this.clients) {
      if (client.pilot === null || client.outcome === null || client.outcome.outcome === "admitted") continue;
      client.pilot.release();
      client.pilot = null;
    }
  }

  /** Lets everything that follows from a step happen, and holds the gates to their promises. */
  async check(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      for (let tick = 0; tick < 4; tick++) await Promise.resolve();
      this.settleEscalations();
    }
    this.steps += 1;
    for (const engine of ENGINES) this.checkGate(engine);
    this.clients = this.clients.filter(
      (client) => client.outcome === null || client.reservation !== null || client.pilot !== null,
    );
  }

  private checkGate(engine: Engine): void {
    const gate = this.gates[engine];
    const fail = (words: string) => {
      throw new Error(`${engine}: ${words}`);
    };
    let held = 0;
    for (const client of this.clients) {
      if (client.engine === engine && client.reservation) held += client.reservation.bytes;
      if (engine === "pilot" && client.pilot) held += client.pilot.bytes;
    }
    if (gate.reserved !== held) fail(`${gate.reserved} bytes are reserved, and requests hold ${held}`);
    if (held > this.capacity[engine]) fail(`${held} bytes are promised of ${this.capacity[engine]}`);
    const waiting = this.waiting(engine);
    if (gate.waiting !== waiting.length)
      fail(`${gate.waiting} stand in the queue, and ${waiting.length} wait`);
    for (const tenant of TENANTS) {
      const earned = this.broughtBack[engine].filter((one) => one === tenant).length;
      if (gate.placesHeldBy(tenant) > 1 + earned)
        fail(`${tenant} has ${gate.placesHeldBy(tenant)} places held, and came back for ${earned}`);
    }
    if (waiting.length > 40) fail("the queue is longer than its bound");
    for (const client of waiting) {
      if (client.deadlineAt < this.clock.now()) fail("one waits beyond its deadline");
      if (client.abort.signal.aborted) fail("one waits that went away");
    }
    // To be told the same measurement again lets nobody in that could have gone before.
    gate.measure(this.capacity[engine]);
    if (gate.waiting !== waiting.length) fail("a wake-up was lost");
    const largest = Math.max(...waiting.map((client) => client.bytes), 0);
    if (waiting.length > 0 && gate.ticketsOut === 0 && largest <= gate.available)
      fail("all that wait would fit, and none was let in");
    if (waiting.length > 0 && held === 0 && gate.ticketsOut === 0) fail("nothing runs, and somebody waits");
  }
}
