import type { LegFacts } from "../escalation/leg";

/** The call of a named model: its bytes pass through unread, so that its answer's tokens are not known here. */
export class NamedLegFacts {
  readonly facts: LegFacts;

  constructor(model: string, startedAt: number) {
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

  /** Milliseconds from asking to the first bytes. */
  firstToken(): number {
    this.facts.firstTokenAt = performance.now();
    return this.facts.firstTokenAt - this.facts.startedAt;
  }

  ended(by: string | null): void {
    this.facts.endedAt = performance.now();
    this.facts.endedBy = by;
  }
}
