import { expect, it } from "vitest";
import { scoreWords } from "./palette-entries";

it("finds every word in any order, and what was written as it stands first", () => {
  const asked = "calibrate target to pilot";
  const right = scoreWords("Calibrate target to pilot  Actions", asked);
  const turned = scoreWords("Calibrate pilot to target  Actions", asked);
  expect(right).toBeGreaterThan(turned);
  expect(turned).toBeGreaterThan(0);
  expect(scoreWords("Run of target to pilot SUCCEEDED Calibrations", asked)).toBe(0);
});
