import type { StreamingMode } from "@helm/contracts";

export const STREAMING: Record<StreamingMode, (window: number) => string> = {
  buffer: () => "judge the whole answer, then send it",
  window: (tokens) => `hold back the first ${tokens} tokens, judge those, then commit`,
  stream: () => "send at once and never escalate",
};

/** The same beside a field where the mode is chosen and the window stands next to it. */
export const STREAMING_HINT: Record<StreamingMode, string> = {
  buffer: "The whole answer is judged, then sent.",
  window: "The first tokens are held back and judged, then the answer streams.",
  stream: "Sent at once; never escalated.",
};
