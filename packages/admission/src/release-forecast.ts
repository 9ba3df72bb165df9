const SHORTEST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/** Of the means: about the last sixteen releases count. */
const WEIGHT = 1 / 16;
/** What is held longer than expected is expected to take this share of its age more. */
const OVERDUE_SHARE = 0.25;

interface Held {
  bytes: number;
  since: number;
}

/**
 * When room will come free, from how long reservations were held lately: the number behind `retry_after_ms`. A request's bytes
 * grow with its tokens and so does its time, so the mean is one of milliseconds for each byte.
 */
export class ReleaseForecast {
  private readonly held = new Set<Held>();
  private bytes = 0;
  private heldMs = 1_000;
  private heldBytes = 0;

  /** Returns what is to be told when bytes are given back: some of them, and in the end all. */
  hold(bytes: number, now: number): { shrink(bytes: number): void; release(now: number): void } {
    const one = { bytes, since: now };
    this.held.add(one);
    this.bytes += bytes;
    return {
      shrink: (smaller) => {
        this.bytes -= one.bytes - smaller;
        one.bytes = smaller;
      },
      release: (end) => {
        this.held.delete(one);
        this.bytes -= one.bytes;
        this.learn(one.bytes, end - one.since);
      },
    };
  }

  /** Milliseconds until `missing` bytes more than now are likely to have come free, within what is worth saying. */
  retryMs(missing: number, now: number): number {
    return Math.ceil(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, this.expect(missing, now))));
  }

  private learn(bytes: number, ms: number): void {
    if (this.heldBytes === 0) [this.heldMs, this.heldBytes] = [ms, bytes];
    this.heldMs += WEIGHT * (ms - this.heldMs);
    this.heldBytes += WEIGHT * (bytes - this.heldBytes);
  }

  private expect(missing: number, now: number): number {
    if (missing <= 0) return 0;
    if (missing > this.bytes) {
      // More than one turnover of everything that is held now: each takes about the mean.
      return this.heldMs * Math.max(1, missing / Math.max(1, this.bytes));
    }
    const ends = [...this.held].map((one) => ({ bytes: one.bytes, left: this.left(one, now) }));
    ends.sort((one, other) => one.left - other.left);
    let freed = 0;
    for (const { bytes, left } of ends) {
      freed += bytes;
      if (freed >= missing) return left;
    }
    return this.heldMs;
  }

  private left({ bytes, since }: Held, now: number): number {
    const age = now - since;
    const whole = this.heldBytes > 0 ? (this.heldMs / this.heldBytes) * bytes : this.heldMs;
    return whole > age ? whole - age : OVERDUE_SHARE * age;
  }
}
