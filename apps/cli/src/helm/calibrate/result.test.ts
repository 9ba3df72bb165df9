import { expect, it } from "vitest";
import { exitCodeOf } from "./result";

it("gives each end its exit code", () => {
  const failed = (code: "PROBES_TOO_SHORT" | "PROBES_BLIND" | "IDENTITY_MISSED" | "SELF_MAP_MISSED") =>
    exitCodeOf({ verdict: null, failure: { code, message: "" } });
  expect(exitCodeOf({ verdict: "CLEARED", failure: null })).toBe(0);
  expect(exitCodeOf({ verdict: "BELOW_GATE", failure: null })).toBe(7);
  expect(failed("PROBES_TOO_SHORT")).toBe(5);
  expect(failed("PROBES_BLIND")).toBe(5);
  expect(failed("IDENTITY_MISSED")).toBe(1);
  expect(failed("SELF_MAP_MISSED")).toBe(1);
});
