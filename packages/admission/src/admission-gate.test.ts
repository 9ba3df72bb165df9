import { describe, expect, it } from "vitest";
import type { Admission } from "./admission";
import { AdmissionGate } from "./admission-gate";
import type { Shortfall } from "./refusal";
import { VirtualClock } from "./testing/virtual-clock";
import { TICKET_GRACE_MS } from "./ticket-book";

const settle = () => new Promise((resolve) => setImmediate(resolve));

function room(capacity: number, maxWaiting = 100) {
  const clock = new VirtualClock();
  return { clock, gate: new AdmissionGate(capacity, maxWaiting, clock) };
}

async function admitted(pending: Promise<Admission>) {
  const admission = await pending;
  if (admission.outcome !== "admitted") throw new Error(`${admission.outcome} where there was room`);
  return admission.reservation;
}

async function refused(pending: Promise<Admission>): Promise<Shortfall> {
  const admission = await pending;
  if (admission.outcome !== "refused") throw new Error(`${admission.outcome} where a refusal was due`);
  return admission.shortfall;
}

/** What has settled by now. */
function watch(pending: Promise<Admission>) {
  const seen: { admission: Admission | null } = { admission: null };
  void pending.then((admission) => {
    seen.admission = admission;
  });
  return seen;
}

describe("the admission gate", () => {
  it("admits, queues, and hands freed bytes to who waits", async () => {
    const { gate, clock } = room(100);
    const first = await admitted(gate.admit({ tenant: "a", bytes: 80, deadlineMs: 0 }));
    const second = gate.admit({ tenant: "b", bytes: 50, deadlineMs: 1_000 });
    expect(gate.waiting).toBe(1);
    clock.pass(400);
    first.release();
    expect(await second).toMatchObject({ outcome: "admitted", waited_ms: 400 });
    expect(gate.available).toBe(50);
  });

  it("refuses with exact numbers when the deadline passes", async () => {
    const { gate, clock } = room(100);
    await gate.admit({ tenant: "a", bytes: 80, deadlineMs: 0 });
    const late = gate.admit({ tenant: "a", bytes: 50, deadlineMs: 15 });
    clock.pass(15);
    expect(await refused(late)).toMatchObject({
      code: "kv_memory_short",
      needed_bytes: 50,
      available_bytes: 20,
      shortfall_bytes: 30,
      never_fits: false,
    });
    expect(gate.waiting).toBe(0);
  });

  it("says at once that something can never fit, and gives no ticket for it", async () => {
    const { gate } = room(100);
    expect(await refused(gate.admit({ tenant: "a", bytes: 101, deadlineMs: 60_000 }))).toMatchObject({
      code: "never_fits",
      never_fits: true,
      shortfall_bytes: 1,
      ticket: null,
    });
  });

  it("lets a client that went away leave at once, and whoever stood behind it go ahead", async () => {
    const { gate, clock } = room(100);
    await gate.admit({ tenant: "a", bytes: 60, deadlineMs: 0 });
    const client = new AbortController();
    const large = gate.admit({ tenant: "a", bytes: 90, deadlineMs: 5_000, signal: client.signal });
    const small = gate.admit({ tenant: "b", bytes: 40, deadlineMs: 5_000 });
    expect(gate.waiting).toBe(2);
    client.abort();
    expect((await large).outcome).toBe("gone");
    expect((await small).outcome).toBe("admitted");
    expect(clock.pending).toBe(0);
  });

  it("lets small requests flow past a large one, which waits for none that came after it", async () => {
    const { gate } = room(100);
    const long = await admitted(gate.admit({ tenant: "a", bytes: 60, deadlineMs: 0 }));
    const head = watch(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 60_000 }));
    const shorts = await Promise.all(
      [1, 2, 3].map(() => admitted(gate.admit({ tenant: "b", bytes: 10, deadlineMs: 0 }))),
    );
    // 40 bytes are free, yet a fourth would stand in the large one's way.
    const fourth = watch(gate.admit({ tenant: "b", bytes: 10, deadlineMs: 60_000 }));
    await settle();
    expect([head.admission, fourth.admission]).toEqual([null, null]);
    shorts[0]?.release();
    await settle();
    expect(fourth.admission?.outcome).toBe("admitted");
    // The large one goes as soon as what ran before it has ended, although three small ones run.
    long.release();
    await settle();
    expect(head.admission?.outcome).toBe("admitted");
    expect(gate.available).toBe(0);
  });

  it("counts what is given back once, however often it is given", async () => {
    const { gate } = room(100);
    await admitted(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0 }));
    const head = watch(gate.admit({ tenant: "a", bytes: 80, deadlineMs: 60_000 }));
    const small = await admitted(gate.admit({ tenant: "b", bytes: 20, deadlineMs: 0 }));
    small.release();
    small.release();
    expect(gate.reserved).toBe(70);
    // Were the overtaker taken off twice, 30 bytes could pass a head that leaves 20.
    const next = watch(gate.admit({ tenant: "b", bytes: 30, deadlineMs: 60_000 }));
    await settle();
    expect([head.admission, next.admission]).toEqual([null, null]);
  });

  it("bounds the queue, and a tenant that fills it gives way to one that has less of it", async () => {
    const { gate } = room(10, 3);
    await gate.admit({ tenant: "a", bytes: 10, deadlineMs: 0 });
    const all = [1, 2, 3].map(() => watch(gate.admit({ tenant: "a", bytes: 1, deadlineMs: 5_000 })));
    expect(await refused(gate.admit({ tenant: "a", bytes: 1, deadlineMs: 5_000 }))).toMatchObject({
      available_bytes: 0,
    });
    const other = watch(gate.admit({ tenant: "b", bytes: 1, deadlineMs: 5_000 }));
    await settle();
    expect(all.map((one) => one.admission?.outcome)).toEqual([undefined, undefined, "refused"]);
    expect(other.admission).toBeNull();
    expect(gate.waiting).toBe(3);
  });

  it("refuses who waits for more than a smaller measurement leaves", async () => {
    const { gate } = room(100);
    await gate.admit({ tenant: "a", bytes: 80, deadlineMs: 0 });
    const large = gate.admit({ tenant: "a", bytes: 90, deadlineMs: 5_000 });
    gate.measure(85);
    expect(await refused(large)).toMatchObject({ never_fits: true, available_bytes: 85 });
  });
});

describe("a bound", () => {
  const by = (bytes: number, exact: () => Promise<number>) => ({
    tenant: "t",
    bytes,
    exact,
    deadlineMs: 5_000,
  });

  it("is made exact before anybody waits for what it does not need", async () => {
    const { gate } = room(100);
    let asked = 0;
    const exact = async () => {
      asked += 1;
      return 30;
    };
    const bounded = await gate.admitBound(by(90, exact));
    expect([gate.available, asked]).toEqual([10, 0]);
    await admitted(gate.admit({ tenant: "b", bytes: 60, deadlineMs: 5_000 }));
    expect([gate.available, asked]).toEqual([10, 1]);
    bounded?.reservation.release();
    bounded?.reservation.release();
    expect(gate.available).toBe(40);
  });

  it("stands where nobody can make it exact, and is not taken without room", async () => {
    const { gate } = room(100);
    const bounded = await gate.admitBound(by(90, () => Promise.reject(new Error("no count"))));
    expect(await gate.admitBound(by(20, async () => 1))).toBeNull();
    const waiting = gate.admit({ tenant: "a", bytes: 20, deadlineMs: 5_000 });
    await settle();
    expect([gate.waiting, bounded?.reservation.bytes]).toEqual([1, 90]);
    bounded?.reservation.release();
    await admitted(waiting);
  });

  it("waits for its turn uncounted while only the engine's hands are full, and is counted once bytes are short", async () => {
    const clock = new VirtualClock();
    const gate = new AdmissionGate(100, 10, clock, undefined, { rows: 1, tokens: 1e9 });
    let asked = 0;
    const exact = async () => {
      asked += 1;
      return 10;
    };
    const first = await gate.admitBound(by(40, exact));
    const second = gate.admitBound(by(40, exact));
    await settle();
    expect([gate.waiting, asked]).toEqual([1, 0]);
    gate.measure(50);
    await settle();
    // The one at the head and the one that runs: 40 of 50 were held, and 40 more were wanted.
    expect([gate.waiting, asked, gate.reserved]).toEqual([1, 2, 10]);
    first?.reservation.release();
    expect((await second)?.reservation.bytes).toBe(10);
    expect(gate.reserved).toBe(10);
  });

  it("is not waited by behind somebody who waits for bytes: the exact size may go past", async () => {
    const { gate } = room(100);
    await admitted(gate.admit({ tenant: "a", bytes: 60, deadlineMs: 0 }));
    const large = gate.admit({ tenant: "a", bytes: 70, deadlineMs: 5_000 });
    await settle();
    expect(await gate.admitBound(by(35, async () => 20))).toBeNull();
    await admitted(gate.admit({ tenant: "b", bytes: 20, deadlineMs: 0, keepsPlace: false }));
    expect(gate.waiting).toBe(1);
    void large;
  });

  it("gives null at its deadline, and to who left: the exact size may be refused, the bound is not", async () => {
    const clock = new VirtualClock();
    const gate = new AdmissionGate(100, 10, clock, undefined, { rows: 1, tokens: 1e9 });
    await gate.admitBound(by(40, async () => 10));
    const leaver = new AbortController();
    const late = gate.admitBound(by(40, async () => 10));
    const gone = gate.admitBound({ ...by(40, async () => 10), signal: leaver.signal });
    leaver.abort();
    clock.pass(5_000);
    expect([await late, await gone, gate.waiting, gate.ticketsOut]).toEqual([null, null, 0, 0]);
  });
});

describe("a ticket", () => {
  async function refusedOnce(capacity = 100, needed = 70) {
    const { gate, clock } = room(capacity);
    const long = await admitted(gate.admit({ tenant: "x", bytes: 60, deadlineMs: 0 }));
    const late = gate.admit({ tenant: "a", bytes: needed, deadlineMs: 10 });
    clock.pass(10);
    const { ticket, retry_after_ms } = await refused(late);
    if (ticket === null) throw new Error("a place was to be kept");
    return { gate, clock, long, ticket, retryMs: retry_after_ms };
  }

  it("keeps the room: what was promised to fit, fits, whoever comes in between", async () => {
    const { gate, clock, long, ticket, retryMs } = await refusedOnce();
    const crowd = Array.from({ length: 20 }, () =>
      watch(gate.admit({ tenant: "b", bytes: 10, deadlineMs: 120_000 })),
    );
    await settle();
    expect(crowd.filter((one) => one.admission !== null)).toHaveLength(3);
    long.release();
    await settle();
    expect(crowd.filter((one) => one.admission !== null)).toHaveLength(3);
    clock.pass(retryMs);
    const back = await gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0, ticket });
    expect(back.outcome).toBe("admitted");
    expect(gate.ticketsOut).toBe(0);
  });

  it("lapses after its grace, and the room goes to who waits", async () => {
    const { gate, clock, long, ticket, retryMs } = await refusedOnce();
    const small = watch(gate.admit({ tenant: "b", bytes: 50, deadlineMs: 120_000 }));
    long.release();
    await settle();
    expect(small.admission).toBeNull();
    clock.pass(retryMs + TICKET_GRACE_MS);
    await settle();
    expect(small.admission?.outcome).toBe("admitted");
    expect(await refused(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0, ticket }))).toMatchObject({
      available_bytes: 50,
    });
  });

  it("is its tenant's own, good once, and for no larger request", async () => {
    const { gate, ticket, long } = await refusedOnce();
    await refused(gate.admit({ tenant: "b", bytes: 70, deadlineMs: 0, ticket, keepsPlace: false }));
    await refused(gate.admit({ tenant: "a", bytes: 71, deadlineMs: 0, ticket, keepsPlace: false }));
    expect(gate.ticketsOut).toBe(1);
    long.release();
    const first = await admitted(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0, ticket }));
    await refused(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0, ticket, keepsPlace: false }));
    first.release();
  });

  it("holds no memory for a tenant that never comes back with one", async () => {
    const { gate, clock, long, retryMs } = await refusedOnce();
    long.release();
    clock.pass(retryMs + TICKET_GRACE_MS);
    // Its trust is used up: the next ticket keeps its turn, and room that nobody uses is anybody's.
    const again = await admitted(gate.admit({ tenant: "x", bytes: 60, deadlineMs: 0 }));
    const late = gate.admit({ tenant: "a", bytes: 70, deadlineMs: 10 });
    clock.pass(10);
    const { ticket } = await refused(late);
    expect(ticket).not.toBeNull();
    again.release();
    const other = await admitted(gate.admit({ tenant: "b", bytes: 100, deadlineMs: 0 }));
    // Brought back, it stands before who came later, and has earned trust.
    const later = watch(gate.admit({ tenant: "c", bytes: 100, deadlineMs: 60_000 }));
    const back = watch(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 60_000, ticket }));
    other.release();
    await settle();
    expect([later.admission, back.admission?.outcome]).toEqual([null, "admitted"]);
  });

  it("earns nothing for who brings it back and leaves before it is let in, and takes the trust that kept its room", async () => {
    const { gate, clock } = room(100);
    await admitted(gate.admit({ tenant: "x", bytes: 60, deadlineMs: 0 }));
    const refusal = async () =>
      (await refused(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0 }))).ticket ?? undefined;
    for (let round = 0; round < 5; round++) {
      const leaving = new AbortController();
      const ask = { tenant: "a", bytes: 70, deadlineMs: 1_000, ticket: await refusal() };
      const back = gate.admit({ ...ask, signal: leaving.signal });
      leaving.abort();
      expect((await back).outcome).toBe("gone");
    }
    for (let ticket = 0; ticket < 4; ticket++) await refusal();
    expect([gate.ticketsOut, gate.placesHeldBy("a")]).toEqual([4, 0]);
    clock.pass(600_000);
  });

  it("earns trust for who brings it back and is let in", async () => {
    const { gate, long, ticket } = await refusedOnce();
    const back = gate.admit({ tenant: "a", bytes: 70, deadlineMs: 60_000, ticket });
    long.release();
    await admitted(back);
    for (let more = 0; more < 4; more++) await refused(gate.admit({ tenant: "a", bytes: 70, deadlineMs: 0 }));
    expect([gate.ticketsOut, gate.placesHeldBy("a")]).toEqual([4, 2]);
  });

  it("is given within a bound, and never to one that does without", async () => {
    const clock = new VirtualClock();
    const gate = new AdmissionGate(10, 100, clock, { most: 3, mostOfTenant: 2 });
    await admitted(gate.admit({ tenant: "x", bytes: 10, deadlineMs: 0 }));
    const ask = async (tenant: string, keepsPlace = true) =>
      (await refused(gate.admit({ tenant, bytes: 1, deadlineMs: 0, keepsPlace }))).ticket !== null;
    expect(await ask("a", false)).toBe(false);
    expect([await ask("a"), await ask("a"), await ask("a")]).toEqual([true, true, false]);
    expect([await ask("b"), await ask("b")]).toEqual([true, false]);
  });
});

describe("the number that a refusal names", () => {
  it("follows how long room was held for each byte", async () => {
    const { gate, clock } = room(100);
    for (let turn = 0; turn < 40; turn++) {
      const one = await admitted(gate.admit({ tenant: "a", bytes: 50, deadlineMs: 0 }));
      clock.pass(4_000);
      one.release();
    }
    await admitted(gate.admit({ tenant: "a", bytes: 50, deadlineMs: 0 }));
    await admitted(gate.admit({ tenant: "a", bytes: 25, deadlineMs: 0 }));
    const { retry_after_ms: one } = await refused(gate.admit({ tenant: "b", bytes: 50, deadlineMs: 0 }));
    const { retry_after_ms: both } = await refused(gate.admit({ tenant: "b", bytes: 90, deadlineMs: 0 }));
    expect([one, both]).toEqual([2_000, 4_000]);
  });
});

describe("a promise that was a little too early", () => {
  it("is kept: whoever brings its ticket back waits for as long as the ticket is good", async () => {
    const clock = new VirtualClock();
    const gate = new AdmissionGate(100, 10, clock);
    const running = await gate.admit({ tenant: "a", bytes: 100, deadlineMs: 0 });
    const refused = await gate.admit({ tenant: "b", bytes: 80, deadlineMs: 0 });
    if (refused.outcome !== "refused" || running.outcome !== "admitted")
      throw new Error("one runs, one is refused");
    const { ticket, retry_after_ms } = refused.shortfall;
    clock.pass(retry_after_ms);
    const again = gate.admit({ tenant: "b", bytes: 80, deadlineMs: 100, ticket });
    clock.pass(20_000);
    running.reservation.release();
    expect((await again).outcome).toBe("admitted");
  });
});

describe("behind a ticket whose holder is away", () => {
  const soon = { deadlineMs: 10 };
  const later = { deadlineMs: 60_000 };

  it("a large request finds its room free although small ones keep coming", async () => {
    const { gate, clock } = room(100);
    const running = await admitted(gate.admit({ tenant: "a", bytes: 80, deadlineMs: 0 }));
    const away = gate.admit({ tenant: "a", bytes: 30, ...soon });
    clock.pass(10);
    await refused(away);
    expect(gate.placesHeldBy("a")).toBe(1);
    running.release();
    // Beside the 30 that are kept free these fill what is left; the large one comes and needs some of it.
    let small = await Promise.all(
      [1, 2, 3].map(() => admitted(gate.admit({ tenant: "b", bytes: 20, ...soon }))),
    );
    const large = watch(gate.admit({ tenant: "b", bytes: 50, ...later }));
    for (let turn = 0; turn < 3 && large.admission === null; turn++) {
      const next = small.map(() => watch(gate.admit({ tenant: "b", bytes: 20, ...later })));
      for (const one of small) one.release();
      await settle();
      small = next.flatMap(({ admission }) =>
        admission?.outcome === "admitted" ? [admission.reservation] : [],
      );
    }
    expect(large.admission).toMatchObject({ outcome: "admitted" });
  });

  it("its tenant's later requests stand behind it, also when nothing of the tenant waited in between", async () => {
    const { gate, clock } = room(100);
    const running = await admitted(gate.admit({ tenant: "a", bytes: 60, deadlineMs: 0 }));
    // Small ones that went past the large one took turns meanwhile.
    const large = gate.admit({ tenant: "a", bytes: 80, ...soon });
    const passed = await Promise.all(
      [1, 2].map(() => admitted(gate.admit({ tenant: "a", bytes: 10, ...later }))),
    );
    const second = gate.admit({ tenant: "a", bytes: 90, ...soon });
    clock.pass(10);
    const [first, other] = [await refused(large), await refused(second)];
    expect(gate.waiting).toBe(0);
    for (const one of [...passed, running]) one.release();
    const back = gate.admit({ tenant: "a", bytes: 80, ticket: first.ticket, deadlineMs: 0 });
    const held = await admitted(back);
    const returned = watch(gate.admit({ tenant: "a", bytes: 90, ticket: other.ticket, ...later }));
    const newcomers = Array.from({ length: 5 }, () =>
      watch(gate.admit({ tenant: "a", bytes: 20, ...later })),
    );
    await settle();
    held.release();
    await settle();
    expect(returned.admission).toMatchObject({ outcome: "admitted" });
    expect(newcomers.map(({ admission }) => admission)).toEqual([null, null, null, null, null]);
  });
});
