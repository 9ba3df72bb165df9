/** An engine's life as its supervisor sees it. It serves only after a canary, and again only after another one. */
export const engineStates = ["STOPPED", "STARTING", "SERVING", "BACKING_OFF", "STOPPING"] as const;
export type EngineState = (typeof engineStates)[number];

const nextStates: Record<EngineState, readonly EngineState[]> = {
  STOPPED: ["STARTING"],
  STARTING: ["SERVING", "BACKING_OFF", "STOPPING"],
  SERVING: ["BACKING_OFF", "STOPPING"],
  BACKING_OFF: ["STARTING", "STOPPING"],
  STOPPING: ["STOPPED"],
};

export class IllegalEngineTransition extends Error {
  constructor(from: EngineState, to: EngineState) {
    super(`an engine cannot go from ${from} to ${to}`);
    this.name = "IllegalEngineTransition";
  }
}

export function moveEngine(from: EngineState, to: EngineState): EngineState {
  if (!nextStates[from].includes(to)) throw new IllegalEngineTransition(from, to);
  return to;
}
