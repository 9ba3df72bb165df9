import type { LegFacts } from "../escalation/leg";

/** The staging call as a trace shows it: no tokens come of it, only the pilot's cache. */
export class StageFacts {
  readonly facts: LegFacts;

  constructor(model: string) {
    const startedAt = performance.now();
    this.facts = {
      model,
      startedAt,
      firstTokenAt: null,
      endedAt: null,
      endedBy: null,
      usage: null,
      heardTokens: null,
      timing: null,
    };
  }

  ended(outcome: { stageMs: number | null; kind: string; reason?: string }): void {
    const now = performance.now();
    this.facts.endedAt = outcome.stageMs === null ? now : this.facts.startedAt + outcome.stageMs;
    this.facts.endedBy = outcome.kind === "fallback" ? (outcome.reason ?? null) : null;
  }
}
