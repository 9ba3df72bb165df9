import { describe, expect, it } from "vitest";
import { type Mixed, runMixed } from "./testing/mixed-traffic";

/** As the bundled pilot was measured, in KiB: 171 blocks for a long request, 3 for a short one. */
const LONG = 171 * 80;
const SHORT = 3 * 80;
const READ_MS = 700;
const traffic = (capacity: number, changes: Partial<Mixed> = {}): Mixed => ({
  capacity,
  short: { bytes: SHORT, ms: 90, clients: 8 },
  long: { bytes: LONG, ms: 2_500, readMs: READ_MS, clients: 2 },
  deadlineMs: 500,
  forMs: 60_000,
  ...changes,
});

describe("a budget too small for two long requests", () => {
  it("refuses no short one where all of them fit beside a long one, and keeps every promise", async () => {
    const capacity = LONG + 8 * SHORT;
    expect(2 * LONG).toBeGreaterThan(capacity);
    const { shorts, longs } = await runMixed(traffic(capacity));
    expect(shorts).toMatchObject({ refused: 0, longestWaitMs: 0 });
    expect(shorts.served).toBeGreaterThan(1_000);
    expect(longs.served).toBeGreaterThan(20);
    expect(longs.refused).toBeGreaterThan(0);
    expect(longs.broken).toBe(0);
  });

  it("refuses short ones for their deadline alone where five fit beside a long one: no room is left idle", async () => {
    const { shorts, longs, idleMoments } = await runMixed(traffic(LONG + 5 * SHORT));
    expect(idleMoments).toBe(0);
    expect(shorts.refused).toBeGreaterThan(0);
    // One after another without a pause: 60 s of 2.5 s each.
    expect(longs.served).toBeGreaterThan(20);
    expect(longs.broken).toBe(0);
    // Who waits, waits for a prompt to be read, and not for its turn.
    const patient = await runMixed(traffic(LONG + 5 * SHORT, { deadlineMs: 2_000 }));
    expect(patient.shorts.refused).toBe(0);
    expect(patient.shorts.longestWaitMs).toBeGreaterThan(500);
    expect(patient.shorts.longestWaitMs).toBeLessThan(READ_MS + 2 * 90);
    expect(patient.idleMoments).toBe(0);
    expect(patient.longs).toMatchObject({ broken: 0 });
    expect(patient.longs.served).toBeGreaterThan(15);
  });

  it("starves neither: long ones go on beside many short ones, short ones beside long ones that never end", async () => {
    const many = await runMixed(traffic(LONG + 4 * SHORT, { short: { bytes: SHORT, ms: 40, clients: 40 } }));
    expect(many.longs.served).toBeGreaterThan(20);
    expect(many.longs.broken).toBe(0);
    const endless = { bytes: LONG, ms: 55_000, readMs: 0, clients: 2 };
    const stuck = await runMixed(traffic(LONG + 4 * SHORT, { long: endless }));
    expect(stuck.shorts.served).toBeGreaterThan((2 * 55_000) / 90);
  });
});
