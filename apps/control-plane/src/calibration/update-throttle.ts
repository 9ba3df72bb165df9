import type { CalibrationUpdate } from "@helm/contracts";

const LINES_KEPT = 200;

/** At most one update a run in `intervalMs`; what came between is merged, lines in order, nothing dropped silently:
 * a page that sees a gap in `seq` reads the rows. */
export class UpdateThrottle {
  private readonly waiting = new Map<string, CalibrationUpdate | null>();
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly intervalMs: number,
    private readonly send: (update: CalibrationUpdate) => void,
  ) {}

  push(update: CalibrationUpdate): void {
    const id = update.calibration;
    if (!this.timers.has(id)) {
      this.send(update);
      this.schedule(id);
      return;
    }
    const before = this.waiting.get(id);
    this.waiting.set(id, before ? merge(before, update) : update);
  }

  close(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    this.waiting.clear();
  }

  private schedule(id: string): void {
    const timer = setTimeout(() => {
      this.timers.delete(id);
      const update = this.waiting.get(id);
      this.waiting.delete(id);
      if (!update) return;
      this.send(update);
      this.schedule(id);
    }, this.intervalMs);
    timer.unref();
    this.timers.set(id, timer);
  }
}

function merge(before: CalibrationUpdate, after: CalibrationUpdate): CalibrationUpdate {
  if (before.attempt !== after.attempt) return after;
  return { ...after, lines: [...before.lines, ...after.lines].slice(-LINES_KEPT) };
}
