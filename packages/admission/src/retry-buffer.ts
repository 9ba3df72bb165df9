import type { Clock } from "./clock";

export interface Attempt<T> {
  /** Calls `accepted` once the engine has taken the request; what the attempt does afterwards is nobody's business here. */
  run: (accepted: () => void) => Promise<T>;
  /** Whether an error says that the engine has no room yet. */
  isOverload: (error: unknown) => boolean;
  deadlineMs: number;
  signal?: AbortSignal;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

interface Entry {
  wake: () => void;
}

/**
 * Requests that were let in and that the engine sent back as more than it can take. They are tried again one at a time, in the
 * order in which they came back, and before anybody else is let in.
 */
export class RetryBuffer {
  private readonly line: Entry[] = [];

  constructor(
    private readonly most: number,
    private readonly clock: Clock,
    /** Told when nobody is left. */
    private readonly onEmpty: () => void,
  ) {}

  get size(): number {
    return this.line.length;
  }

  /** Rejects with `refused` where the buffer is full, with the last error at the deadline, and with any other error at once. */
  async again<T>(refused: unknown, attempt: Attempt<T>): Promise<T> {
    if (this.line.length >= this.most) throw refused;
    const until = this.clock.now() + attempt.deadlineMs;
    const entry: Entry = { wake: () => {} };
    this.line.push(entry);
    const leave = () => this.leave(entry);
    try {
      await this.turnOf(entry, attempt, until);
      return await this.tryUntil(refused, attempt, until, leave);
    } finally {
      leave();
    }
  }

  private async tryUntil<T>(
    refused: unknown,
    { run, isOverload, signal }: Attempt<T>,
    until: number,
    leave: () => void,
  ): Promise<T> {
    let last = refused;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, 2 * pause)) {
      if (this.clock.now() >= until || signal?.aborted) throw last;
      await this.pause(Math.min(pause, until - this.clock.now()), signal);
      if (signal?.aborted) throw last;
      try {
        return await run(leave);
      } catch (error) {
        if (!isOverload(error)) throw error;
        last = error;
      }
    }
  }

  private async turnOf(entry: Entry, { signal }: Attempt<unknown>, until: number): Promise<void> {
    if (this.line[0] === entry) return;
    await this.pause(Math.max(0, until - this.clock.now()), signal, (wake) => {
      entry.wake = wake;
    });
  }

  /** Ends early where it is woken or the signal aborts, and leaves nothing at either. */
  private async pause(ms: number, signal?: AbortSignal, onWake?: (wake: () => void) => void): Promise<void> {
    let wake = () => {};
    const over = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const cancel = this.clock.after(ms, wake);
    onWake?.(wake);
    signal?.addEventListener("abort", wake, { once: true });
    if (signal?.aborted) wake();
    await over;
    cancel();
    signal?.removeEventListener("abort", wake);
  }

  private leave(entry: Entry): void {
    const at = this.line.indexOf(entry);
    if (at < 0) return;
    this.line.splice(at, 1);
    if (at === 0) this.line[0]?.wake();
    if (this.line.length === 0) this.onEmpty();
  }
}
