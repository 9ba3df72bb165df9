import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Conversation } from "./conversation";
import { Sessions } from "./sessions";

const sessions = new Sessions();
const scope = { tenant: "a", pair: "p" };
const chain = (count: number, from = 0) =>
  sessions.chain(
    scope,
    Array.from({ length: count }, (_, at) => from + at),
  );

describe("who answers a conversation", () => {
  it("is the target from its first answer on, until its turns are over or it was brought down", () => {
    const step = fc.constantFrom("held", "escalated", "kept", "down" as const);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (steps, hold) => {
        const conversation = new Conversation();
        let answers = 0;
        for (const one of steps) {
          if (one === "held" || one === "escalated") {
            answers = one === "escalated" ? 1 : answers + 1;
            conversation.targetAnswered(one === "escalated");
          } else {
            if (one === "down") answers = 0;
            conversation.pilotAnswered(one === "down");
          }
          expect(conversation.heldByTarget(null, false)).toBe(answers > 0);
          expect(conversation.heldByTarget(hold, false)).toBe(answers > 0 && answers < hold);
          // Whoever began a tool loop ends it.
          expect(conversation.heldByTarget(hold, true)).toBe(answers > 0);
        }
      }),
    );
  });
});

describe("what a model is expected to find again", () => {
  it("is whole blocks of a prompt that goes on from what it read, never its last token", () => {
    const conversation = new Conversation();
    conversation.read("target", chain(50), null);
    expect(conversation.expectedHit("target", chain(80), "s")).toEqual({ tokens: 48, mapped: false });
    expect(conversation.expectedHit("target", chain(50), "s")).toEqual({ tokens: 48, mapped: false });
    conversation.read("target", chain(48), null);
    expect(conversation.expectedHit("target", chain(48), "s").tokens).toBe(32);
    expect(conversation.expectedHit("target", chain(40), "s").tokens).toBe(0);
    expect(conversation.expectedHit("target", chain(80, 7), "s").tokens).toBe(0);
    expect(conversation.expectedHit("pilot", chain(80), "s").tokens).toBe(0);
    expect(conversation.expectedHit("target", null, "s").tokens).toBe(0);
  });

  it("is a mapped line only under the salt it was written with, and the longer of the two", () => {
    const conversation = new Conversation();
    conversation.read("target", chain(32), null);
    conversation.read("target", chain(64), "s");
    expect(conversation.expectedHit("target", chain(90), "s")).toEqual({ tokens: 64, mapped: true });
    expect(conversation.expectedHit("target", chain(90), "another mapper's")).toEqual({
      tokens: 32,
      mapped: false,
    });
    expect(conversation.expectedHit("target", chain(90), null).mapped).toBe(false);
    expect(conversation.expectedNativeHit("target", chain(90))).toBe(32);
    conversation.read("target", chain(80), null);
    expect(conversation.expectedHit("target", chain(90), "s")).toEqual({ tokens: 80, mapped: false });
    conversation.forgetLines();
    expect(conversation.expectedHit("target", chain(90), "s").tokens).toBe(0);
  });
});
