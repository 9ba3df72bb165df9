import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldBack } from "./hold-back";

const tokens = fc.array(fc.double({ min: -9, max: 0, noNaN: true }), { minLength: 1, maxLength: 30 });

describe("holding an answer back", () => {
  it("gives the judge the first N tokens of a window, however they arrive", () => {
    fc.assert(
      fc.property(
        tokens,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        (all, window, cut) => {
          const hold = new HoldBack("window", window, 1);
          for (let at = 0; at < all.length; at += cut) {
            hold.push(0, all.slice(at, at + cut), at + cut >= all.length);
          }
          expect(hold.complete).toBe(true);
          expect(hold.evidence[0]).toEqual(all.slice(0, window));
        },
      ),
    );
  });

  it("is complete as soon as every answer has its window or has ended, and no sooner", () => {
    const hold = new HoldBack("window", 2, 2);
    hold.push(0, [-1, -1, -1], false);
    expect(hold.complete).toBe(false);
    hold.push(1, [-2], false);
    expect(hold.complete).toBe(false);
    hold.push(1, [], true);
    expect(hold.complete).toBe(true);
  });

  it("keeps a buffered answer to its very end", () => {
    fc.assert(
      fc.property(tokens, (all) => {
        const hold = new HoldBack("buffer", 1, 1);
        hold.push(0, all, false);
        expect(hold.complete).toBe(false);
        hold.push(0, [], true);
        expect(hold.complete).toBe(true);
        expect(hold.evidence[0]).toEqual(all);
      }),
    );
  });

  it("holds nothing of a stream", () => {
    expect(new HoldBack("stream", 8, 1).complete).toBe(true);
  });
});
