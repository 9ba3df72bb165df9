import type { JudgeBy, JudgeLabel, StreamingMode } from "@helm/contracts";
import { percent } from "../../ui/numbers";

/** What of an answer a judge sees, and so what it was fitted for. */
export function seenOf(streaming: StreamingMode, window: number | null): string {
  if (streaming === "stream") return "nothing";
  return streaming === "window" ? `the first ${window} tokens` : "whole answers";
}

/** What the quality of a curve is a share of. */
export function qualityOf(label: JudgeLabel): string {
  return label === "target_better" ? "answered no worse than by the target" : "answered as the target would";
}

export function choiceOf(by: JudgeBy): string {
  return "escalation_rate" in by
    ? `escalating ${percent(by.escalation_rate)} of requests`
    : `keeping a quality of ${percent(by.quality_floor)}`;
}
