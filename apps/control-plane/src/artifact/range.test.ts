import fc from "fast-check";
import { expect, it } from "vitest";
import { parseRange } from "./range";

it("reads one range as RFC 9110 has it", () => {
  expect(parseRange(undefined, 10)).toBeNull();
  expect(parseRange("bytes=-", 10)).toBeNull();
  expect(parseRange("bytes=0-3,5-6", 10)).toBeNull();
  expect(parseRange("bytes=2-", 10)).toEqual({ start: 2, end: 9 });
  expect(parseRange("bytes=-3", 10)).toEqual({ start: 7, end: 9 });
  expect(parseRange("bytes=0-99", 10)).toEqual({ start: 0, end: 9 });
  expect(parseRange("bytes=10-", 10)).toBe("unsatisfiable");
  expect(parseRange("bytes=-0", 10)).toBe("unsatisfiable");
});

it("never leaves the file", () => {
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), fc.integer({ min: 1, max: 80 }), (first, last, size) => {
      const range = parseRange(`bytes=${first}-${last}`, size);
      if (range === "unsatisfiable" || range === null) return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeLessThan(size);
      expect(range.end).toBeGreaterThanOrEqual(range.start);
    }),
  );
});
