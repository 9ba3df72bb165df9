import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Admitted } from "./admission";
import { AdmissionGate } from "./admission-gate";
import type { Pull } from "./pull-window";
import { VirtualClock } from "./testing/virtual-clock";

const LIMITS = { rows: 8, tokens: 100 };

interface Running {
  pull: Pull;
  reading: boolean;
  admitted: Admitted;
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("ask" as const),
    tenant: fc.constantFrom("a", "b", "c"),
    rows: fc.integer({ min: 1, max: 12 }),
    tokens: fc.integer({ min: 0, max: 150 }),
    bytes: fc.integer({ min: 0, max: 60 }),
  }),
  fc.record({ kind: fc.constantFrom("started" as const, "ended" as const), which: fc.nat() }),
);

const counted = (sizes: number[], limit: number) =>
  sizes.reduce((sum, size) => sum + Math.min(size, limit / 2), 0);

const settle = async () => {
  for (let tick = 0; tick < 4; tick++) await Promise.resolve();
};

describe("what an engine is handed", () => {
  it("stays within rows and unread tokens, of which one counts for half at most; loses nothing; never idles", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const gate = new AdmissionGate(200, 1_000, new VirtualClock(), undefined, LIMITS);
        const running: Running[] = [];
        let came = 0;
        for (const one of steps) {
          if (one.kind === "ask") {
            came += 1;
            const { tenant, bytes, rows, tokens } = one;
            const pull = { rows, tokens };
            void gate.admit({ tenant, bytes, pull, deadlineMs: 1e9 }).then((admission) => {
              if (admission.outcome !== "admitted") throw new Error("nobody is refused here");
              running.push({ pull, reading: true, admitted: admission.reservation });
            });
          } else if (running.length > 0) {
            const at = one.which % running.length;
            const it = running[at] as Running;
            it.reading = false;
            it.admitted.started();
            if (one.kind === "ended") {
              it.admitted.release();
              it.admitted.release();
              came -= 1;
              running.splice(at, 1);
            }
          }
          await settle();
          const rows = running.reduce((sum, { pull }) => sum + pull.rows, 0);
          const reading = running.filter((it) => it.reading && it.pull.tokens > 0);
          const tokens = reading.reduce((sum, { pull }) => sum + pull.tokens, 0);
          expect(gate.handed).toEqual({ rows, tokens });
          expect(
            counted(
              running.map(({ pull }) => pull.rows),
              LIMITS.rows,
            ),
          ).toBeLessThanOrEqual(LIMITS.rows);
          expect(
            counted(
              reading.map(({ pull }) => pull.tokens),
              LIMITS.tokens,
            ),
          ).toBeLessThanOrEqual(LIMITS.tokens);
          if (gate.waiting > 0) expect(running.length).toBeGreaterThan(0);
          const { waiting } = gate;
          gate.measure(200);
          expect(gate.waiting).toBe(waiting);
        }
        while (running.length > 0) {
          running.shift()?.admitted.release();
          await settle();
          came -= 1;
        }
        expect([gate.handed, gate.reserved, gate.waiting, came]).toEqual([{ rows: 0, tokens: 0 }, 0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  });

  it("lets a request larger than the window in beside half of it, so that the engine never idles for one", async () => {
    const gate = new AdmissionGate(1_000, 100, new VirtualClock(), undefined, LIMITS);
    const running: Admitted[] = [];
    const ask = (tenant: string, rows: number) =>
      void gate
        .admit({ tenant, bytes: 1, pull: { rows, tokens: 0 }, deadlineMs: 1e6 })
        .then((admission) => admission.outcome === "admitted" && running.push(admission.reservation));
    for (let i = 0; i < 8; i++) ask("small", 1);
    await settle();
    ask("large", 128);
    for (let i = 0; i < 8; i++) ask("small", 1);
    let least = Number.POSITIVE_INFINITY;
    while (gate.handed.rows < 128) {
      running.shift()?.release();
      await settle();
      least = Math.min(least, gate.handed.rows);
    }
    expect(least).toBeGreaterThanOrEqual(LIMITS.rows / 2 + 1);
  });

  it("gives the token budget back when the prompt is read, and the rows when the answer is over", async () => {
    const gate = new AdmissionGate(1_000, 10, new VirtualClock(), undefined, LIMITS);
    const ask = (tokens: number) =>
      gate.admit({ tenant: "a", bytes: 1, pull: { rows: 1, tokens }, deadlineMs: 1e6 });
    const first = await ask(50);
    await ask(50);
    const third = ask(50);
    await settle();
    expect(gate.waiting).toBe(1);
    if (first.outcome === "admitted") first.reservation.started();
    expect((await third).outcome).toBe("admitted");
    expect(gate.handed).toEqual({ rows: 3, tokens: 100 });
  });
});
