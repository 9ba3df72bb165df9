import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AdmissionGate } from "./admission-gate";
import { FairQueue } from "./fair-queue";

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("the fair queue", () => {
  it("keeps order within a tenant and lets no tenant wait for more than one turn of each other", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 }), (tenants) => {
        const queue = new FairQueue<{ tenant: string; n: number }>();
        tenants.forEach((tenant, n) => {
          queue.push(tenant, { tenant, n });
        });
        const out: { tenant: string; n: number }[] = [];
        for (let next = queue.shift(); next; next = queue.shift()) out.push(next);
        expect(out).toHaveLength(tenants.length);
        for (const tenant of ["a", "b", "c"]) {
          const own = out.filter((entry) => entry.tenant === tenant).map((entry) => entry.n);
          expect(own).toEqual([...own].sort((x, y) => x - y));
          const places = out.flatMap((entry, at) => (entry.tenant === tenant ? [at] : []));
          places.forEach((place, at) => {
            expect(place - (places[at - 1] ?? -1)).toBeLessThanOrEqual(3);
          });
        }
      }),
    );
  });
});

describe("the admission gate", () => {
  it("admits, queues, and hands freed bytes to who waits", async () => {
    const gate = new AdmissionGate(100, 4);
    const first = await gate.admit({ tenant: "a", bytes: 80, deadlineMs: 0 });
    if (first.outcome !== "admitted") throw new Error("there was room");
    const second = gate.admit({ tenant: "b", bytes: 50, deadlineMs: 1_000 });
    await tick();
    expect(gate.waiting).toBe(1);
    first.reservation.release();
    expect((await second).outcome).toBe("admitted");
    expect(gate.available).toBe(50);
  });

  it("refuses with exact numbers when the deadline passes", async () => {
    const gate = new AdmissionGate(100, 4);
    await gate.admit({ tenant: "a", bytes: 80, deadlineMs: 0 });
    const late = await gate.admit({ tenant: "a", bytes: 50, deadlineMs: 15 });
    expect(late).toMatchObject({
      outcome: "refused",
      shortfall: { code: "kv_memory_short", needed_bytes: 50, available_bytes: 20, shortfall_bytes: 30 },
    });
    expect(gate.waiting).toBe(0);
  });

  it("says at once that something can never fit", async () => {
    const gate = new AdmissionGate(100, 4);
    expect(await gate.admit({ tenant: "a", bytes: 101, deadlineMs: 60_000 })).toMatchObject({
      outcome: "refused",
      shortfall: { code: "never_fits", never_fits: true, shortfall_bytes: 1 },
    });
  });

  it("lets a client that went away leave at once, and whoever stood behind it go ahead", async () => {
    const gate = new AdmissionGate(100, 4);
    await gate.admit({ tenant: "a", bytes: 60, deadlineMs: 0 });
    const client = new AbortController();
    const large = gate.admit({ tenant: "a", bytes: 90, deadlineMs: 5_000, signal: client.signal });
    const small = gate.admit({ tenant: "b", bytes: 40, deadlineMs: 5_000 });
    await tick();
    expect(gate.waiting).toBe(2);
    client.abort();
    expect((await large).outcome).toBe("gone");
    expect((await small).outcome).toBe("admitted");
  });

  it("bounds the queue", async () => {
    const gate = new AdmissionGate(10, 1);
    await gate.admit({ tenant: "a", bytes: 10, deadlineMs: 0 });
    const client = new AbortController();
    const queued = gate.admit({ tenant: "a", bytes: 1, deadlineMs: 5_000, signal: client.signal });
    expect((await gate.admit({ tenant: "b", bytes: 1, deadlineMs: 5_000 })).outcome).toBe("refused");
    client.abort();
    await queued;
  });

  it("never holds more than it has, and ends empty, whatever the load", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ tenant: fc.constantFrom("a", "b"), bytes: fc.integer({ min: 1, max: 120 }) }), {
          maxLength: 25,
        }),
        async (asks) => {
          const gate = new AdmissionGate(100, 1_000);
          const outcomes = await Promise.all(
            asks.map(async (ask) => {
              const admission = await gate.admit({ ...ask, deadlineMs: 10_000 });
              expect(gate.available).toBeGreaterThanOrEqual(0);
              if (admission.outcome === "admitted") {
                await tick();
                admission.reservation.release();
              }
              return admission.outcome;
            }),
          );
          outcomes.forEach((outcome, at) => {
            expect(outcome).toBe((asks[at]?.bytes ?? 0) > 100 ? "refused" : "admitted");
          });
          expect(gate.available).toBe(100);
          expect(gate.waiting).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});
