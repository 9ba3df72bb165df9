import type { StreamingMode } from "@helm/contracts";
import { CountableTokens } from "./countable-tokens";
import type { AnswerEvidence, EvidenceToken } from "./evidence";

interface Held {
  tokens: EvidenceToken[];
  countable: CountableTokens;
  finish: string | null;
}

/**
 * How much of a pilot's answer the judge sees before bytes may leave. `buffer`: all of it; `window`: the first N
 * tokens of every answer, thinking not counted; `stream`: nothing, such an answer is never escalated.
 */
export class HoldBack {
  private readonly held: Held[];

  constructor(
    private readonly mode: StreamingMode,
    private readonly window: number,
    answers: number,
    private readonly wantsJson = false,
  ) {
    this.held = Array.from({ length: answers }, () => ({
      tokens: [],
      countable: new CountableTokens(),
      finish: null,
    }));
  }

  /** Takes in tokens of answer `index`; what lies beyond the window is not evidence, nor is an end beyond it. */
  push(index: number, tokens: readonly EvidenceToken[], finish: string | null): void {
    const own = this.held[index];
    if (!own) return;
    const before = this.isFull(own);
    let beyond = false;
    for (const token of tokens) {
      if (!own.countable.counts(token)) continue;
      if (this.isFull(own)) beyond = true;
      else own.tokens.push(token);
    }
    if (finish !== null && !before && !beyond) own.finish = finish;
  }

  /** Whether the judge has seen all it will see of every answer. */
  get complete(): boolean {
    if (this.mode === "stream") return true;
    return this.held.every((own) => own.finish !== null || this.isFull(own));
  }

  get evidence(): AnswerEvidence[] {
    return this.held.map(({ tokens, finish }) => ({ tokens, finish, wantsJson: this.wantsJson }));
  }

  private isFull(own: Held): boolean {
    return this.mode === "window" && own.tokens.length >= this.window;
  }
}
