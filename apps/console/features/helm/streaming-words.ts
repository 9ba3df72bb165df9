import type { StreamingMode } from "@helm/contracts";

export const STREAMING: Record<StreamingMode, (window: number) => string> = {
  buffer: () => "judge the whole answer, then send it",
  window: (tokens) => `hold back the first ${tokens} tokens, judge those, then commit`,
  stream: () => "send at once and never escalate",
};
