import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldBack } from "./hold-back";
import { answerOf, tokenOf } from "./testing";

const tokens = fc
  .array(fc.double({ min: -9, max: 0, noNaN: true }), { minLength: 1, maxLength: 30 })
  .map((all) => answerOf(all).tokens);
const sure = (count: number) => Array.from({ length: count }, () => tokenOf(-0.1));

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
            hold.push(0, all.slice(at, at + cut), at + cut >= all.length ? "stop" : null);
          }
          expect(hold.complete).toBe(true);
          const seen = { tokens: all.slice(0, window), finish: all.length <= window ? "stop" : null };
          expect(hold.evidence[0]).toEqual({ ...seen, wantsJson: false });
        },
      ),
    );
  });

  it("is complete as soon as every answer has its window or has ended, and no sooner", () => {
    const hold = new HoldBack("window", 2, 2);
    hold.push(0, sure(3), null);
    expect(hold.complete).toBe(false);
    hold.push(1, sure(1), null);
    expect(hold.complete).toBe(false);
    hold.push(1, [], "stop");
    expect(hold.complete).toBe(true);
  });

  it("keeps a buffered answer to its very end", () => {
    fc.assert(
      fc.property(tokens, (all) => {
        const hold = new HoldBack("buffer", 1, 1);
        hold.push(0, all, null);
        expect(hold.complete).toBe(false);
        hold.push(0, [], "length");
        expect(hold.complete).toBe(true);
        expect(hold.evidence[0]).toEqual({ tokens: all, finish: "length", wantsJson: false });
      }),
    );
  });

  it("counts an answer's own tokens, not its thinking nor what every tool call is written with", () => {
    const hold = new HoldBack("window", 2, 1);
    const said = [
      "<think>",
      "hm",
      "so",
      "</think>",
      "<tool_call>",
      '{"',
      "name",
      '": "',
      "weather",
      "Kiel",
      "}",
    ];
    hold.push(
      0,
      said.map((text) => tokenOf(-0.5, text)),
      null,
    );
    expect(hold.evidence[0]?.tokens.map(({ text }) => text)).toEqual(["weather", "Kiel"]);
    const parsed = new HoldBack("buffer", 1, 1);
    parsed.push(0, [{ ...tokenOf(-3, "hm"), part: "thinking" }, tokenOf(-0.1, "yes")], "stop");
    expect(parsed.evidence[0]?.tokens.map(({ text }) => text)).toEqual(["yes"]);
  });

  it("holds nothing of a stream", () => {
    expect(new HoldBack("stream", 8, 1).complete).toBe(true);
  });
});
