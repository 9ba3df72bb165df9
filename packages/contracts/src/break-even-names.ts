import type { BreakEven } from "./calibration-event";

/**
 * What each comparison is called, on every page, in the tables, in the command line's reports and in docs/glossary.md: one
 * name for one length. `words` go on from the name.
 */
export const BREAK_EVENS: Record<keyof BreakEven, { name: string; words: string }> = {
  transfer: {
    name: "Pays from",
    words: "a transfer beats the target's own prefill, given that the pilot has answered",
  },
  with_pilot: {
    name: "Pays from, pilot counted",
    words: "the pilot's prefill and a transfer beat the target's own prefill",
  },
  escalated: {
    name: "Escalation pays from",
    words: "a whole escalation with the transfer beats one without, to the target's first token",
  },
  direct: {
    name: "Beats direct from",
    words: "a whole escalation with the transfer beats the target asked directly",
  },
};

/** "from 64 tokens", or that no measured length shows it. */
export function fromTokens(tokens: number | null | undefined): string {
  return tokens == null ? "at no measured length" : `from ${tokens.toLocaleString("en")} tokens`;
}
