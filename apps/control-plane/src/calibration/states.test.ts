import { CalibrationState, HelmError } from "@helm/contracts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { CALIBRATION_MOVES, type CalibrationMove, isOpen, isTerminal, mayMove, nextState } from "./states";

const state = fc.constantFrom(...CalibrationState.options);
const move = fc.constantFrom(...CALIBRATION_MOVES);

function walk(from: CalibrationState, moves: CalibrationMove[]): CalibrationState {
  return moves.reduce((at, step) => (mayMove(at, step) ? nextState(at, step) : at), from);
}

it("moves where it may and throws a typed error where it may not", () => {
  fc.assert(
    fc.property(state, move, (from, step) => {
      if (mayMove(from, step)) expect(CalibrationState.options).toContain(nextState(from, step));
      else {
        expect(() => nextState(from, step)).toThrowError(HelmError);
        expect(() => nextState(from, step)).toThrowError(
          expect.objectContaining({ code: "ILLEGAL_TRANSITION" }),
        );
      }
    }),
  );
});

it("says in words what cannot be done", () => {
  expect(() => nextState("CANCELLED", "cancel")).toThrow(
    "A calibration that is CANCELLED cannot be cancelled.",
  );
});

it("never leaves SUCCEEDED, and leaves another end by retry alone", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      expect(walk("SUCCEEDED", moves)).toBe("SUCCEEDED");
      const withoutRetry = moves.filter((step) => step !== "retry");
      for (const end of ["FAILED", "CANCELLED"] as const) expect(walk(end, withoutRetry)).toBe(end);
    }),
  );
});

it("reaches RUNNING from QUEUED by a claim and from LOST by the same attempt's return, and by nothing else", () => {
  fc.assert(
    fc.property(state, move, (from, step) => {
      if (!mayMove(from, step) || nextState(from, step) !== "RUNNING") return;
      expect([
        ["QUEUED", "claim"],
        ["LOST", "come_back"],
      ]).toContainEqual([from, step]);
    }),
  );
});

it("ends every run that is claimed, lost and cancelled in whatever order", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      const at = walk("QUEUED", moves);
      const ended = walk(at, ["cancel"]);
      expect(isTerminal(ended)).toBe(true);
      expect(isOpen(ended)).toBe(false);
    }),
  );
});
