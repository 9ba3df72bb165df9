import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Conversation } from "./conversation";
import { type SessionScope, Sessions } from "./sessions";

const scope = (tenant = "a", pair = "p"): SessionScope => ({ tenant, pair });
const tokens = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);

function keepNamed(sessions: Sessions, tenant: string, name: string): Conversation {
  const conversation = sessions.named(scope(tenant), name) ?? new Conversation();
  sessions.keep(scope(tenant), conversation, name, null);
  return conversation;
}

function keepPrompt(sessions: Sessions, ids: number[], where = scope(), conversation = new Conversation()) {
  sessions.keep(where, conversation, null, sessions.chain(where, ids));
  return conversation;
}

const continued = (sessions: Sessions, ids: number[], where = scope()) =>
  sessions.continued(where, sessions.chain(where, ids));

describe("sessions by name", () => {
  it("are one conversation each, of one tenant and one pair", () => {
    const sessions = new Sessions();
    const mine = keepNamed(sessions, "a", "bc");
    expect(sessions.named(scope("a"), "bc")).toBe(mine);
    expect(sessions.named(scope("ab"), "c")).toBeNull();
    expect(sessions.named(scope("b"), "bc")).toBeNull();
    expect(sessions.named(scope("a", "another"), "bc")).toBeNull();
    expect(keepNamed(sessions, "a", "bc")).toBe(mine);
    expect(sessions.size).toBe(1);
  });

  it("take room from the tenant that holds most, never from one that holds fewer", () => {
    const sessions = new Sessions(100);
    for (let n = 0; n < 20; n++) keepNamed(sessions, "small", String(n));
    for (let n = 0; n < 5_000; n++) keepNamed(sessions, "greedy", String(n));
    expect(sessions.size).toBe(100);
    for (let n = 0; n < 20; n++) expect(sessions.named(scope("small"), String(n))).not.toBeNull();
    expect(sessions.named(scope("greedy"), "4999")).not.toBeNull();
    expect(sessions.named(scope("greedy"), "0")).toBeNull();
  });

  it("are forgotten after their idle time, and found until then", () => {
    let now = 0;
    const sessions = new Sessions(10, 1_000, () => now);
    keepNamed(sessions, "a", "s");
    keepPrompt(sessions, tokens(20));
    now = 1_000;
    expect(sessions.named(scope("a"), "s")).not.toBeNull();
    expect(continued(sessions, tokens(40))).not.toBeNull();
    now = 1_001;
    expect(sessions.named(scope("a"), "s")).toBeNull();
    expect(continued(sessions, tokens(40))).toBeNull();
    expect(sessions.size).toBe(0);
  });
});

describe("sessions by their prompt", () => {
  it("are found by the longest prompt that a new one goes on from, whatever the lengths", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 120 }),
        (lengths, asked) => {
          const sessions = new Sessions();
          const made = new Map(lengths.map((length) => [length, keepPrompt(sessions, tokens(length))]));
          const longest = Math.max(0, ...lengths.filter((length) => length >= 16 && length < asked));
          expect(continued(sessions, tokens(asked))).toBe(made.get(longest) ?? null);
        },
      ),
    );
  });

  it("are not what merely begins alike, nor the same prompt once more", () => {
    const sessions = new Sessions();
    const system = tokens(40);
    keepPrompt(sessions, [...system, 900, 901]);
    expect(continued(sessions, [...system, 800, 801, 802, 803])).toBeNull();
    expect(continued(sessions, [...system, 900, 901])).toBeNull();
    expect(continued(sessions, [...system, 900, 901, 5])).not.toBeNull();
  });

  it("never cross tenants or pairs", () => {
    const sessions = new Sessions();
    keepPrompt(sessions, tokens(32));
    expect(continued(sessions, tokens(64))).not.toBeNull();
    expect(continued(sessions, tokens(64), scope("b"))).toBeNull();
    expect(continued(sessions, tokens(64), scope("a", "another"))).toBeNull();
    const mine = sessions.chain(scope(), tokens(32));
    const theirs = sessions.chain(scope("b"), tokens(32));
    for (const blocks of [0, 1, 2]) expect(mine.block(blocks)).not.toBe(theirs.block(blocks));
    // Names are of this process alone: nobody outside can look a prompt up.
    expect(new Sessions().chain(scope(), tokens(32)).prefix(32)).not.toBe(mine.prefix(32));
  });

  it("go on under each new prompt, and the older one leads nowhere any more", () => {
    const sessions = new Sessions();
    const conversation = keepPrompt(sessions, tokens(20));
    keepPrompt(sessions, tokens(50), scope(), conversation);
    expect(sessions.size).toBe(1);
    expect(continued(sessions, tokens(49))).toBeNull();
    expect(continued(sessions, tokens(51))).toBe(conversation);
  });

  it("are the newer one's where two had the same prompt, and none without a block or with many prompts", () => {
    const sessions = new Sessions();
    keepPrompt(sessions, tokens(20));
    const newer = keepPrompt(sessions, tokens(20));
    expect(continued(sessions, tokens(30))).toBe(newer);
    expect(sessions.size).toBe(1);
    keepPrompt(sessions, tokens(15, 500));
    sessions.keep(scope(), new Conversation(), null, null);
    expect(sessions.size).toBe(1);
  });

  it("stay bounded, and what is pushed out is found by nobody", () => {
    const sessions = new Sessions(5);
    for (let n = 0; n < 200; n++) keepPrompt(sessions, tokens(20, n * 1_000));
    expect(sessions.size).toBe(5);
    expect(continued(sessions, tokens(30))).toBeNull();
    expect(continued(sessions, tokens(30, 199_000))).not.toBeNull();
  });
});
