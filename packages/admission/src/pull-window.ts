/** What a request is to the engine's next steps. */
export interface Pull {
  /** Answers that decode side by side. */
  rows: number;
  /** Prompt tokens that are still to be read; an estimate will do. */
  tokens: number;
}

export interface PullLimits {
  rows: number;
  tokens: number;
}

export interface Pulled {
  /** The engine has read the prompt: its tokens come back, and the next prompt may follow. */
  started(): void;
  ended(): void;
}

/**
 * How much an engine is handed beyond what it can work on: a bound on rows, and a budget of prompt tokens that are handed over and
 * not read yet. What waits, waits here, where it has a turn, a deadline and a way out. One alone always goes, however large.
 */
export class PullWindow {
  private rows = 0;
  private tokens = 0;

  constructor(private readonly limits: PullLimits) {}

  get handed(): Readonly<Pull> {
    return { rows: this.rows, tokens: this.tokens };
  }

  fits(pull: Pull): boolean {
    return (
      (this.rows === 0 || this.rows + pull.rows <= this.limits.rows) &&
      (this.tokens === 0 || this.tokens + pull.tokens <= this.limits.tokens)
    );
  }

  take({ rows, tokens }: Pull): Pulled {
    this.rows += rows;
    this.tokens += tokens;
    let [reading, open] = [true, true];
    const started = () => {
      if (reading) this.tokens -= tokens;
      reading = false;
    };
    return {
      started,
      ended: () => {
        started();
        if (open) this.rows -= rows;
        open = false;
      },
    };
  }
}

export const NO_LIMITS: PullLimits = { rows: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };
