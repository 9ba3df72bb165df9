import { type CalibrationState, HelmError } from "@helm/contracts";

export type CalibrationMove = "claim" | "come_back" | "lose" | "succeed" | "fail" | "cancel" | "retry";

/** Which state each move leads to; a move that is not named for a state is illegal there. */
const TRANSITIONS: Record<CalibrationState, Partial<Record<CalibrationMove, CalibrationState>>> = {
  QUEUED: { claim: "RUNNING", cancel: "CANCELLED" },
  RUNNING: { lose: "LOST", succeed: "SUCCEEDED", fail: "FAILED", cancel: "CANCELLED" },
  // The same attempt may come back while no newer one exists.
  LOST: { come_back: "RUNNING", cancel: "CANCELLED", retry: "QUEUED" },
  FAILED: { retry: "QUEUED" },
  CANCELLED: { retry: "QUEUED" },
  SUCCEEDED: {},
};

export const CALIBRATION_MOVES: readonly CalibrationMove[] = [
  "claim",
  "come_back",
  "lose",
  "succeed",
  "fail",
  "cancel",
  "retry",
];

const WORDS: Record<CalibrationMove, string> = {
  claim: "be taken by a worker",
  come_back: "come back",
  lose: "be lost",
  succeed: "succeed",
  fail: "fail",
  cancel: "be cancelled",
  retry: "be retried",
};

export function nextState(state: CalibrationState, move: CalibrationMove): CalibrationState {
  const next = TRANSITIONS[state][move];
  if (next) return next;
  throw new HelmError("ILLEGAL_TRANSITION", `A calibration that is ${state} cannot ${WORDS[move]}.`, {
    state,
    move,
  });
}

export function mayMove(state: CalibrationState, move: CalibrationMove): boolean {
  return TRANSITIONS[state][move] !== undefined;
}

/** Holds the pair's place: no second run may start. */
export function isOpen(state: CalibrationState): boolean {
  return state === "QUEUED" || state === "RUNNING";
}

/** Nothing follows by itself; LOST may still come back. */
export function isTerminal(state: CalibrationState): boolean {
  switch (state) {
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
      return true;
    case "QUEUED":
    case "RUNNING":
    case "LOST":
      return false;
  }
}
