import { expect, it } from "vitest";
import { driftStep } from "./drift-words";

const up = { source: { id: "pilot" }, target: { id: "target" }, active: { sha256: "a".repeat(64) } };
const down = { source: { id: "target" }, target: { id: "pilot" }, active: { sha256: "b".repeat(64) } };

it("gives a command that can be pasted: both digests are in it", () => {
  expect(driftStep(up, down)).toEqual({
    command: `npx lifeboat helm drift --source-model pilot --target-model target --mapper ${"a".repeat(64)} --reverse-mapper ${"b".repeat(64)} --record`,
  });
});

it("says which mapper is missing instead of a command with a gap", () => {
  expect(driftStep({ ...up, active: null }, down)).toEqual({
    missing: expect.stringMatching(/^No mapper from pilot/),
  });
  expect(driftStep(up, null)).toEqual({ missing: expect.stringMatching(/not registered/) });
  expect(driftStep(up, { ...down, active: null })).toEqual({
    missing: expect.stringMatching(/^No mapper from target to pilot/),
  });
  expect(driftStep(up, undefined)).toBeNull();
});
