import { expect, it } from "vitest";
import { hostEntries, scoreWords } from "./palette-entries";

it("finds every word in any order, and what was written as it stands first", () => {
  const asked = "calibrate target to pilot";
  const right = scoreWords("Calibrate target to pilot  Actions", asked);
  const turned = scoreWords("Calibrate pilot to target  Actions", asked);
  expect(right).toBeGreaterThan(turned);
  expect(turned).toBeGreaterThan(0);
  expect(scoreWords("Run of target to pilot SUCCEEDED Calibrations", asked)).toBe(0);
});

it("leads to a node's own page, and to the page of all for a worker", () => {
  const entries = hostEntries([{ id: "n-1", name: "here" }], [{ id: "w-1", name: "there" }]);
  expect(entries.map(({ name, href }) => `${name} ${href}`)).toEqual(["here /nodes/n-1", "there /nodes"]);
});
