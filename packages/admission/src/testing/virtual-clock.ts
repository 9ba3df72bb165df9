import type { Clock } from "../clock";

/** Time that passes when a test says so; timers that fall due run in their order. */
export class VirtualClock implements Clock {
  private time = 0;
  private readonly timers = new Map<number, { at: number; what: () => void }>();
  private count = 0;

  now(): number {
    return this.time;
  }

  date(): Date {
    return new Date(this.time);
  }

  after(ms: number, what: () => void): () => void {
    const id = this.count++;
    this.timers.set(id, { at: this.time + ms, what });
    return () => this.timers.delete(id);
  }

  get pending(): number {
    return this.timers.size;
  }

  pass(ms: number): void {
    const end = this.time + ms;
    for (let next = this.due(end); next; next = this.due(end)) {
      this.time = Math.max(this.time, next.at);
      next.what();
    }
    this.time = end;
  }

  private due(end: number): { at: number; what: () => void } | null {
    let found: [number, { at: number; what: () => void }] | null = null;
    for (const [id, timer] of this.timers) {
      if (timer.at <= end && (found === null || timer.at < found[1].at)) found = [id, timer];
    }
    if (found === null) return null;
    this.timers.delete(found[0]);
    return found[1];
  }
}
