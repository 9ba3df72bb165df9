import { expect, it } from "vitest";
import { absoluteTime, duration, relativeTime } from "./time-words";

const at = new Date("2026-11-30T00:05:09Z");
const S = 1_000;

it("writes a moment in the zone that was chosen, and names it", () => {
  expect(absoluteTime(at, "utc")).toBe("2026-11-30 00:05:09 UTC");
  expect(absoluteTime(at, "local")).toMatch(/^2026-(11-30|11-29) \d\d:05:09 \S+/);
});

it("says how long ago in one unit, and what is to come as such", () => {
  const ago = (seconds: number) => relativeTime(at, at.getTime() + seconds * S);
  expect([1, 59, 61, 3_700, 90_000, 200_000, -120].map(ago)).toEqual([
    "now",
    "59 s ago",
    "1 min ago",
    "1 h ago",
    "1 day ago",
    "2 days ago",
    "in 2 min",
  ]);
});

it("says how long something took", () => {
  expect([0, 75 * S, 7_260 * S].map(duration)).toEqual(["0 s", "1 min 15 s", "2 h 1 min"]);
});
