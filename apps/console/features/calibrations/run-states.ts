import type { CalibrationState } from "@helm/contracts";

/** LOST is not among them: the same attempt may come back while no newer one exists. */
const FINAL: ReadonlySet<CalibrationState> = new Set(["SUCCEEDED", "FAILED", "CANCELLED"]);

export function isFinal(state: CalibrationState): boolean {
  return FINAL.has(state);
}

export function isOpen(state: CalibrationState): boolean {
  return state === "QUEUED" || state === "RUNNING";
}

export function mayRetry(state: CalibrationState): boolean {
  return state === "FAILED" || state === "CANCELLED" || state === "LOST";
}
