import { describe, expect, it } from "vitest";
import { addSample, type Sample, type Settled, settle, timeLeft, timeLeftWords } from "./time-left";

const steady = (seconds: number, perSecond: number): Sample[] =>
  Array.from({ length: seconds + 1 }, (_, second) => ({ at: second * 1_000, percent: second * perSecond }));

describe("time left", () => {
  it("is not said before the look is long enough", () => {
    expect(timeLeft(steady(5, 2), 5_000)).toBeNull();
    expect(timeLeft([], 0)).toBeNull();
  });

  it("is the rest at the measured pace", () => {
    expect(timeLeft(steady(20, 2), 20_000)).toBeCloseTo(30_000, 0);
  });

  it("goes on counting down between two updates and never below nothing", () => {
    expect(timeLeft(steady(20, 2), 25_000)).toBeCloseTo(25_000, 0);
    expect(timeLeft(steady(20, 2), 90_000)).toBe(0);
  });

  it("is not said while the pace changes", () => {
    const bend = [
      ...steady(10, 1),
      ...Array.from({ length: 10 }, (_, i) => ({ at: 11_000 + i * 1_000, percent: 10 + (i + 1) * 6 })),
    ];
    expect(timeLeft(bend, 20_000)).toBeNull();
  });

  it("is not said when nothing moves or all is done", () => {
    expect(timeLeft(steady(20, 0), 20_000)).toBeNull();
    expect(timeLeft(steady(50, 2), 50_000)).toBeNull();
  });

  it("starts over when a new attempt begins lower", () => {
    expect(addSample(steady(10, 2), { at: 11_000, percent: 0 })).toEqual([{ at: 11_000, percent: 0 }]);
  });

  it("forgets what is older than a minute", () => {
    const kept = addSample(steady(70, 1), { at: 71_000, percent: 71 });
    expect(kept[0]?.at).toBe(11_000);
  });

  it("speaks coarsely", () => {
    expect([4_000, 34_000, 70_000, 200_000, 5_400_000].map(timeLeftWords)).toEqual([
      "a few seconds left",
      "about 30 s left",
      "about a minute left",
      "about 3 min left",
      "about 1.5 h left",
    ]);
  });
});

describe("the end that is said", () => {
  const follow = (lefts: (number | null)[], step = 1_000) => {
    let settled: Settled | null = null;
    return lefts.map((left, i) => {
      settled = settle(settled, left, i * step);
      return settled.endsAt === null ? null : settled.endsAt - i * step;
    });
  };

  it("counts down and never up, whatever a busy machine does to the estimate", () => {
    const wobbling = Array.from({ length: 40 }, (_, i) => 60_000 - i * 1_000 + (i % 2 ? 6_000 : -2_000));
    const said = follow(wobbling);
    for (let i = 1; i < said.length; i++)
      expect(said[i] ?? 0, `second ${i}`).toBeLessThanOrEqual(said[i - 1] ?? 0);
  });

  it("is taken back where the run has become much slower, and comes again once that has settled", () => {
    const slower = [...Array(5).fill(30_000), ...Array(20).fill(120_000)] as number[];
    const said = follow(slower.map((left, i) => left - Math.min(i, 4) * 1_000));
    expect(said[4]).not.toBeNull();
    expect(said.slice(5, 13).every((one) => one === null)).toBe(true);
    expect(said[14]).toBeGreaterThan(100_000);
  });

  it("says nothing while the estimate says nothing", () => {
    expect(follow([null, null])).toEqual([null, null]);
    expect(follow([null, 30_000])).toEqual([null, 30_000]);
  });
});
