import type { RequestTrace } from "@helm/contracts";

export interface Bar {
  name: string;
  model: string | null;
  fromMs: number;
  toMs: number;
  firstTokenMs: number | null;
  /** What its end or its step says, in words. */
  note: string;
  answered: boolean;
  step: boolean;
}

const ROLE_WORDS: Record<RequestTrace["legs"][number]["role"], string> = {
  pilot: "pilot answers",
  stage: "pilot's cache is staged",
  target: "target answers",
  named: "named model answers",
  share: "asked again by chance",
};

type Shown = Omit<RequestTrace, "text">;

/** Waiting, every leg and the steps of a transfer on one scale, from the arrival on. */
export function waterfallOf(trace: Shown): Bar[] {
  const bars: Bar[] = [];
  if (trace.queue_ms) bars.push(stepBar("waits for room", 0, trace.queue_ms));
  for (const leg of trace.legs) {
    const toMs = leg.ended_ms ?? trace.total_ms;
    const tokens = leg.completion_tokens === null ? "" : `, ${leg.completion_tokens} tokens`;
    bars.push({
      name: ROLE_WORDS[leg.role],
      model: leg.model,
      fromMs: leg.started_ms,
      toMs: Math.max(leg.started_ms, toMs),
      firstTokenMs: leg.first_token_ms,
      note: `${leg.ended_by === null ? "to its end" : endWords(leg.ended_by)}${tokens}`,
      answered: leg.answered,
      step: false,
    });
    if (leg.role === "target" && leg.answered) bars.push(...stepsOf(trace, leg.started_ms));
  }
  return bars;
}

/** The engine gives durations, not moments: its steps follow each other from the call's beginning. */
function stepsOf({ steps, transfer }: Shown, from: number): Bar[] {
  if (transfer !== "transferred" || !steps) return [];
  const bars: Bar[] = [];
  let at = from;
  for (const [name, ms] of [
    ["keys and values mapped", steps.map_ms],
    ["installed in the target's cache", steps.install_ms],
    ["exact tail computed", steps.tail_ms],
  ] as const) {
    if (ms === null) continue;
    bars.push(stepBar(name, at, at + ms));
    at += ms;
  }
  return bars;
}

function stepBar(name: string, fromMs: number, toMs: number): Bar {
  return { name, model: null, fromMs, toMs, firstTokenMs: null, note: "", answered: false, step: true };
}

function endWords(by: string): string {
  if (by === "not_needed") return "cancelled, its answer was not needed";
  return `ended by ${by}`;
}
