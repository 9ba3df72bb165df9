import type { ServingState } from "@helm/contracts";

/**
 * A node's life between its orders and its requests. It joins by a canary, leaves by draining, and a drained one comes
 * back by a canary too. Parked it is drained and its engine's process is gone.
 */
const nextStates: Record<ServingState, readonly ServingState[]> = {
  JOINING: ["SERVING", "DRAINING", "DRAINED", "PARKED"],
  SERVING: ["JOINING", "DRAINING", "DRAINED"],
  DRAINING: ["DRAINED", "JOINING"],
  DRAINED: ["JOINING", "PARKED"],
  PARKED: ["JOINING", "DRAINED"],
};

export class IllegalServingTransition extends Error {
  constructor(from: ServingState, to: ServingState) {
    super(`a node cannot go from ${from} to ${to}`);
    this.name = "IllegalServingTransition";
  }
}

export function moveServing(from: ServingState, to: ServingState): ServingState {
  if (!nextStates[from].includes(to)) throw new IllegalServingTransition(from, to);
  return to;
}

export function takesRequests(state: ServingState): boolean {
  return state === "SERVING";
}

export function isDraining(state: ServingState): boolean {
  return state === "DRAINING" || state === "DRAINED" || state === "PARKED";
}
