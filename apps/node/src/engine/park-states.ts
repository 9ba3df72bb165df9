/** Whether an engine is kept running. One that is being parked ends first, whatever is wanted meanwhile. */
export type ParkState = "PARKED" | "RUNNING" | "PARKING";

const nextStates: Record<ParkState, readonly ParkState[]> = {
  PARKED: ["RUNNING"],
  RUNNING: ["PARKING"],
  PARKING: ["PARKED"],
};

export class IllegalParkTransition extends Error {
  constructor(from: ParkState, to: ParkState) {
    super(`an engine cannot go from ${from} to ${to}`);
    this.name = "IllegalParkTransition";
  }
}

export function parkState(from: ParkState, to: ParkState): ParkState {
  if (!nextStates[from].includes(to)) throw new IllegalParkTransition(from, to);
  return to;
}
