/** Bytes taken from a ledger; giving them back twice gives them back once. */
export interface Reservation {
  readonly bytes: number;
  /** Gives back what lies above `bytes`; never takes more. */
  shrink(bytes: number): void;
  release(): void;
}

/** What an engine has room for, and what has been promised of it. The sum of promises never exceeds the capacity. */
export class Ledger {
  private held = 0;

  constructor(private capacityBytes: number) {
    checkBytes(capacityBytes);
  }

  get capacity(): number {
    return this.capacityBytes;
  }

  get reserved(): number {
    return this.held;
  }

  /** Below zero never; after a smaller capacity was measured, what is promised stays promised. */
  get available(): number {
    return Math.max(0, this.capacityBytes - this.held);
  }

  /** A new measurement of the engine. */
  measure(capacityBytes: number): void {
    checkBytes(capacityBytes);
    this.capacityBytes = capacityBytes;
  }

  /** All of `bytes` or null. */
  reserve(bytes: number): Reservation | null {
    checkBytes(bytes);
    if (bytes > this.available) return null;
    this.held += bytes;
    let kept = bytes;
    let open = true;
    return {
      get bytes() {
        return kept;
      },
      shrink: (smaller) => {
        checkBytes(smaller);
        if (!open || smaller >= kept) return;
        this.held -= kept - smaller;
        kept = smaller;
      },
      release: () => {
        if (!open) return;
        open = false;
        this.held -= kept;
      },
    };
  }
}

function checkBytes(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new RangeError(`${bytes} is no number of bytes`);
}
