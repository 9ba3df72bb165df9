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
 * not read yet. What waits, waits here, with a turn, a deadline and a way out. One request counts for half of either at most: a large
 * one that waited until all others have ended would idle the engine for everybody.
 */
export class PullWindow {
  private rows = 0;
  private tokens = 0;
  private counted: Pull = { rows: 0, tokens: 0 };

  constructor(private readonly limits: PullLimits) {}

  get handed(): Readonly<Pull> {
    return { rows: this.rows, tokens: this.tokens };
  }

  fits(pull: Pull): boolean {
    const { rows, tokens } = this.count(pull);
    const { counted, limits } = this;
    return counted.rows + rows <= limits.rows && counted.tokens + tokens <= limits.tokens;
  }

  take(pull: Pull): Pulled {
    const { rows, tokens } = pull;
    const counted = this.count(pull);
    this.rows += rows;
    this.tokens += tokens;
    this.counted.rows += counted.rows;
    this.counted.tokens += counted.tokens;
    let [reading, open] = [true, true];
    const started = () => {
      if (!reading) return;
      reading = false;
      this.tokens -= tokens;
      this.counted.tokens -= counted.tokens;
    };
    return {
      started,
      ended: () => {
        started();
        if (!open) return;
        open = false;
        this.rows -= rows;
        this.counted.rows -= counted.rows;
      },
    };
  }

  private count({ rows, tokens }: Pull): Pull {
    const { limits } = this;
    return { rows: Math.min(rows, mostOf(limits.rows)), tokens: Math.min(tokens, mostOf(limits.tokens)) };
  }
}

function mostOf(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}

export const NO_LIMITS: PullLimits = { rows: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };
