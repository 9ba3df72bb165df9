import { expect, it } from "vitest";
import { differenceOf } from "./difference";

it("says what was, what is, and what stayed", () => {
  expect(
    differenceOf({ state: "RUNNING", k: 4 }, { state: "SUCCEEDED", k: 4, error: null, verdict: "CLEARED" }),
  ).toEqual([
    { path: "state", was: "RUNNING", is: "SUCCEEDED", kind: "changed" },
    { path: "k", was: "4", is: "4", kind: "same" },
    { path: "verdict", is: "CLEARED", kind: "set" },
  ]);
});

it("goes into things and names their parts by path", () => {
  expect(
    differenceOf({ route: { window: 16, hold: false } }, { route: { window: 32, hold: false } }),
  ).toEqual([
    { path: "route.window", was: "16", is: "32", kind: "changed" },
    { path: "route.hold", was: "false", is: "false", kind: "same" },
  ]);
});

it("shows every cause of a refused registration", () => {
  const causes = [
    { cause: "VOCABULARY", sentence: "Their vocabularies differ." },
    { cause: "KV_HEADS", sentence: "Their heads differ." },
  ];
  const fields = differenceOf({ state: "PENDING" }, { state: "REFUSED", causes });
  expect(fields.map(({ path }) => path)).toEqual([
    "state",
    "causes 1.cause",
    "causes 1.sentence",
    "causes 2.cause",
    "causes 2.sentence",
  ]);
});

it("takes a value that was cleared for removed, and an empty list for none", () => {
  expect(differenceOf({ expiresAt: "2026-12-01", tags: ["a", "b"] }, { expiresAt: null, tags: [] })).toEqual([
    { path: "expiresAt", was: "2026-12-01", kind: "removed" },
    { path: "tags", was: "a, b", is: "none", kind: "changed" },
  ]);
  expect(differenceOf(null, undefined)).toEqual([]);
});
