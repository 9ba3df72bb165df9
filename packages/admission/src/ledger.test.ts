import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ledger, type Reservation } from "./ledger";

type Step =
  | { kind: "reserve"; bytes: number }
  | { kind: "release"; at: number }
  | { kind: "shrink"; at: number; bytes: number }
  | { kind: "measure"; bytes: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("reserve" as const), bytes: fc.nat(400) }),
  fc.record({ kind: fc.constant("release" as const), at: fc.nat(30) }),
  fc.record({ kind: fc.constant("shrink" as const), at: fc.nat(30), bytes: fc.nat(400) }),
  fc.record({ kind: fc.constant("measure" as const), bytes: fc.nat(1_000) }),
);

describe("the ledger", () => {
  it("never promises more than was measured, and loses no byte", () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const ledger = new Ledger(capacity);
        const held: { reservation: Reservation; open: boolean }[] = [];
        for (const s of steps) {
          if (s.kind === "reserve") {
            const before = ledger.available;
            const reservation = ledger.reserve(s.bytes);
            expect(reservation !== null).toBe(s.bytes <= before);
            if (reservation) held.push({ reservation, open: true });
          } else if (s.kind === "release") {
            const entry = held[s.at];
            entry?.reservation.release();
            entry?.reservation.release();
            if (entry) entry.open = false;
          } else if (s.kind === "shrink") {
            const entry = held[s.at];
            const before = entry?.reservation.bytes ?? 0;
            entry?.reservation.shrink(s.bytes);
            if (entry?.open) expect(entry.reservation.bytes).toBe(Math.min(before, s.bytes));
          } else ledger.measure(s.bytes);
          const open = held.filter((h) => h.open).reduce((sum, h) => sum + h.reservation.bytes, 0);
          expect(ledger.reserved).toBe(open);
          expect(ledger.available).toBe(Math.max(0, ledger.capacity - open));
        }
      }),
    );
  });

  it("refuses what is no number of bytes", () => {
    const ledger = new Ledger(10);
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => ledger.reserve(bad)).toThrow(RangeError);
    }
  });
});
