import fc from "fast-check";
import { expect, it } from "vitest";
import { Salts } from "./salts";

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
  expect(salts.native("a")).toBe(salts.native("a"));
  expect(new Salts().native("a")).not.toBe(salts.native("a"));
  expect(salts.stagingMac("a", [1, 23], "m")).not.toBe(salts.stagingMac("a", [12, 3], "m"));
});
