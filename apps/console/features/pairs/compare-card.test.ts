import { expect, it } from "vitest";
import { baseFirst } from "./compare-card";

const row = (id: string, score: unknown = {}) => ({ id, score });
const rows = [row("new"), row("failed", null), row("mid"), row("old")];
const ids = (chosen: string[], active: string | null) => baseFirst(rows, chosen, active).map(({ id }) => id);

it("holds the newest other run against the active mapper's where nothing was chosen", () => {
  expect(ids([], "old")).toEqual(["old", "new"]);
  expect(ids([], "new")).toEqual(["new", "mid"]);
  expect(ids([], null)).toEqual(["mid", "new"]);
});

it("takes the chosen ones, the active or else the oldest of them first, and none without a score", () => {
  expect(ids(["new", "mid", "old"], "mid")).toEqual(["mid", "new", "old"]);
  expect(ids(["new", "mid", "failed"], "old")).toEqual(["mid", "new"]);
  expect(ids(["mid"], "old")).toEqual(["old", "mid"]);
});

it("has nothing to compare with fewer than two scores", () => {
  expect(baseFirst([row("one"), row("two", null)], [], "one")).toEqual([]);
});
