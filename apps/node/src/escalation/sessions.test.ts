import fc from "fast-check";
import { expect, it } from "vitest";
import { Salts } from "./salts";
import { Sessions } from "./sessions";

it("never lets a session that escalated go back to the pilot by itself, and stays bounded", () => {
  const step = fc.record({
    tenant: fc.constantFrom("a", "b"),
    session: fc.constantFrom("1", "2", "3", "4"),
    holder: fc.constantFrom("pilot" as const, "target" as const),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const sessions = new Sessions(100);
      const escalated = new Set<string>();
      for (const { tenant, session, holder } of steps) {
        sessions.record(tenant, session, holder);
        if (holder === "target") escalated.add(`${tenant}/${session}`);
        expect(sessions.holder(tenant, session)).toBe(
          escalated.has(`${tenant}/${session}`) ? "target" : "pilot",
        );
      }
    }),
  );
  const few = new Sessions(3);
  for (let n = 0; n < 50; n++) few.record("a", String(n), "target");
  expect(few.size).toBe(3);
  expect(few.holder("a", "0")).toBeNull();
});

it("takes room from the tenant that holds most, never from one that holds fewer", () => {
  const sessions = new Sessions(100);
  for (let n = 0; n < 20; n++) sessions.record("small", String(n), "target");
  for (let n = 0; n < 5_000; n++) {
    sessions.record("greedy", String(n), "pilot");
    sessions.record("greedy", `x${n}`, "target");
  }
  expect(sessions.size).toBe(100);
  for (let n = 0; n < 20; n++) expect(sessions.holder("small", String(n))).toBe("target");
  expect(sessions.holder("greedy", "x4999")).toBe("target");
  expect(sessions.holder("greedy", "0")).toBeNull();
  // Two names that run together to the same text are two sessions.
  sessions.record("a", "bc", "target");
  sessions.record("ab", "c", "pilot");
  expect([sessions.holder("a", "bc"), sessions.holder("ab", "c")]).toEqual(["target", "pilot"]);
});

it("forgets a session that was idle too long, and has none without a name", () => {
  let now = 0;
  const sessions = new Sessions(10, 1_000, () => now);
  sessions.record("a", "s", "target");
  sessions.record("a", null, "target");
  expect(sessions.size).toBe(1);
  now = 1_001;
  expect(sessions.holder("a", "s")).toBeNull();
});

it("gives every tenant, conversation, mapper and revision a salt of its own", () => {
  const salts = new Salts();
  const part = fc.string({ maxLength: 6 });
  fc.assert(
    fc.property(fc.tuple(part, part, part, part), fc.tuple(part, part, part, part), (a, b) => {
      const same = a.every((value, at) => value === b[at]);
      expect(salts.mapped(...a) === salts.mapped(...b)).toBe(same);
      expect(salts.mapped(...a)).not.toBe(salts.native(b[0]));
    }),
  );
  expect(new Salts().native("a")).not.toBe(salts.native("a"));
  expect(salts.stagingMac("a", [1, 23], "m")).not.toBe(salts.stagingMac("a", [12, 3], "m"));
});
