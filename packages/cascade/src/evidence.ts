/** One token of a pilot's answer as the engine told of it. */
export interface EvidenceToken {
  text: string;
  /** In nats; null where the engine did not say. */
  logprob: number | null;
  /** Log-probability of the likeliest token less that of the next; null where unknown. */
  margin: number | null;
  /** What the engine's own parser took the token for. */
  part: "answer" | "thinking" | "tool_call";
}

/** What a judge may see of one answer. `finish` is null where it goes on beyond what was seen. */
export interface AnswerEvidence {
  tokens: readonly EvidenceToken[];
  finish: string | null;
  /** The caller asked for JSON. */
  wantsJson: boolean;
}

/** Tokens' log-probabilities, in nats. */
export interface LogprobSummary {
  mean: number;
  min: number;
  count: number;
}

/**
 * Null where the evidence is missing or cannot be true: no token, or a value that is not a finite number <= 0.
 * A tiny positive value is rounding in the engine's softmax and counts as 0.
 */
export function summariseLogprobs(logprobs: readonly (number | null)[]): LogprobSummary | null {
  if (logprobs.length === 0) return null;
  let sum = 0;
  let min = 0;
  for (const value of logprobs) {
    if (value === null || !Number.isFinite(value) || value > 1e-3) return null;
    const bounded = Math.min(0, value);
    sum += bounded;
    if (bounded < min) min = bounded;
  }
  // Adding up rounds; the mean may not come out below the smallest value.
  return { mean: Math.max(min, sum / logprobs.length), min, count: logprobs.length };
}
