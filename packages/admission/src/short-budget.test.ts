import { describe, expect, it } from "vitest";
import { type Mixed, runMixed } from "./testing/mixed-traffic";

/** As the bundled pair was measured, in KiB: a long request, a short one, and what the budget leaves beside a long one. */
const LONG = 13_600;
const SHORT = 640;
const traffic = (capacity: number, changes: Partial<Mixed> = {}): Mixed => ({
  capacity,
  short: { bytes: SHORT, ms: 90, clients: 8 },
  long: { bytes: LONG, ms: 2_500, clients: 2 },
  deadlineMs: 500,
  forMs: 60_000,
  ...changes,
});

describe("a budget too small for two long requests", () => {
  it("refuses no short one where all of them fit beside a long one, and keeps every promise", async () => {
    const { shorts, longs } = await runMixed(traffic(LONG + 8 * SHORT));
    expect(2 * LONG).toBeGreaterThan(LONG + 8 * SHORT);
    expect(shorts).toMatchObject({ refused: 0 });
    expect(shorts.served).toBeGreaterThan(60_000 / 90);
    expect(longs.served).toBeGreaterThan(15);
    expect(longs.refused).toBeGreaterThan(0);
    expect(longs.broken).toBe(0);
  });

  it("refuses short ones for their deadline alone where one fits beside a long one: no room is left idle", async () => {
    const { shorts, longs, idleMoments } = await runMixed(traffic(LONG + SHORT + SHORT / 2));
    expect(idleMoments).toBe(0);
    expect(shorts.refused).toBeGreaterThan(0);
    expect(longs).toMatchObject({ broken: 0 });
    // One after another is all that is left to them: eight that take turns of 90 ms wait 630 ms.
    const patient = await runMixed(traffic(LONG + SHORT + SHORT / 2, { deadlineMs: 2_000 }));
    expect(patient.shorts.refused).toBe(0);
    expect(patient.shorts.longestWaitMs).toBeGreaterThanOrEqual(7 * 90);
    expect(patient.longs).toMatchObject({ broken: 0 });
    expect(patient.longs.served).toBeGreaterThan(15);
  });

  it("starves neither: long ones go on beside many short ones, short ones beside long ones that never end", async () => {
    const many = await runMixed(traffic(LONG + 4 * SHORT, { short: { bytes: SHORT, ms: 40, clients: 40 } }));
    expect(many.longs.served).toBeGreaterThan(15);
    expect(many.longs.broken).toBe(0);
    const stuck = await runMixed(
      traffic(LONG + 4 * SHORT, { long: { bytes: LONG, ms: 55_000, clients: 2 } }),
    );
    expect(stuck.shorts.served).toBeGreaterThan((2 * 55_000) / 90);
  });
});
