import fc from "fast-check";
import { expect, it } from "vitest";
import { type MeasuredDecision, Telemetry } from "./telemetry";
import { VirtualClock } from "./testing/virtual-clock";

const FRESH = 30;
const closed: MeasuredDecision[] = ["routing", "co_residency", "calibration"];

it("fails closed for all but named models once a measurement is too old, and for these only where there never was one", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(50) }),
    fc.record({ kind: fc.constantFrom("note" as const, "forget" as const), ms: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new VirtualClock();
      const telemetry = new Telemetry(FRESH, clock);
      let last: number | null = null;
      for (const { kind, ms } of steps) {
        if (kind === "pass") clock.pass(ms);
        else {
          telemetry[kind]();
          last = kind === "note" ? clock.now() : null;
        }
        const fresh = last !== null && clock.now() - last <= FRESH;
        for (const decision of closed) expect(telemetry.allows(decision)).toBe(fresh);
        expect(telemetry.allows("explicit")).toBe(last !== null);
        expect(telemetry.stale).toBe(!fresh);
      }
    }),
  );
});
