import type { StreamingMode } from "@helm/contracts";

/**
 * How much of a pilot's answer the judge sees before bytes may leave. `buffer`: all of it; `window`: the first N
 * tokens of every answer; `stream`: nothing, such an answer is never escalated.
 */
export class HoldBack {
  private readonly seen: (number | null)[][];
  private readonly ended: boolean[];

  constructor(
    private readonly mode: StreamingMode,
    private readonly window: number,
    answers: number,
  ) {
    this.seen = Array.from({ length: answers }, () => []);
    this.ended = Array.from({ length: answers }, () => false);
  }

  /** Takes in tokens of answer `index`; what lies beyond the window is not evidence. */
  push(index: number, logprobs: readonly (number | null)[], finished: boolean): void {
    const own = this.seen[index];
    if (!own) return;
    const room = this.mode === "buffer" ? logprobs.length : Math.max(0, this.window - own.length);
    own.push(...logprobs.slice(0, room));
    if (finished) this.ended[index] = true;
  }

  /** Whether the judge has seen all it will see of every answer. */
  get complete(): boolean {
    if (this.mode === "stream") return true;
    return this.seen.every(
      (own, index) => this.ended[index] || (this.mode === "window" && own.length >= this.window),
    );
  }

  get evidence(): readonly (readonly (number | null)[])[] {
    return this.seen;
  }
}
