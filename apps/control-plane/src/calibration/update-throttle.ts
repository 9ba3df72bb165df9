import type { CalibrationUpdate } from "@helm/contracts";
import { isTerminal } from "./states";

const LINES_KEPT = 200;

const KEPT_MS = 30_000;

interface Run {
  waiting: CalibrationUpdate | null;
  timer: NodeJS.Timeout | null;
  newest: CalibrationUpdate;
  at: number;
}

/**
 * At most one update a run in `intervalMs` to the sockets of this process, whichever control plane took the events. What
 * came between is merged, lines in order; what comes late, after something newer, is dropped: the newer one's `after_seq`
 * has told the page that there are rows to read.
 */
export class UpdateThrottle {
  private readonly runs = new Map<string, Run>();
  private readonly sweeper: NodeJS.Timeout;

  constructor(
    private readonly intervalMs: number,
    private readonly send: (update: CalibrationUpdate) => void,
  ) {
    this.sweeper = setInterval(() => this.sweep(), KEPT_MS);
    this.sweeper.unref();
  }

  push(update: CalibrationUpdate): void {
    const run = this.runs.get(update.calibration);
    if (!run) {
      const fresh: Run = { waiting: null, timer: null, newest: update, at: Date.now() };
      this.runs.set(update.calibration, fresh);
      this.deliver(fresh, update);
      return;
    }
    if (isLate(update, run.newest)) return;
    run.newest = update;
    run.at = Date.now();
    if (!run.timer) this.deliver(run, update);
    else run.waiting = run.waiting ? merge(run.waiting, update) : update;
  }

  /** Runs that are remembered. */
  get size(): number {
    return this.runs.size;
  }

  close(): void {
    clearInterval(this.sweeper);
    for (const { timer } of this.runs.values()) if (timer) clearTimeout(timer);
    this.runs.clear();
  }

  private deliver(run: Run, update: CalibrationUpdate): void {
    this.send(update);
    run.timer = setTimeout(() => {
      run.timer = null;
      const { waiting } = run;
      run.waiting = null;
      if (waiting) this.deliver(run, waiting);
    }, this.intervalMs);
    run.timer.unref();
  }

  private sweep(): void {
    const old = Date.now() - KEPT_MS;
    for (const [id, run] of this.runs) if (!run.timer && run.at < old) this.runs.delete(id);
  }
}

/** Control planes hear of each other in no common order: an update never takes back what a newer one said. */
function isLate(update: CalibrationUpdate, newest: CalibrationUpdate): boolean {
  if (update.attempt !== newest.attempt) return update.attempt < newest.attempt;
  if (update.last_seq !== newest.last_seq) return update.last_seq < newest.last_seq;
  return isTerminal(newest.state) && !isTerminal(update.state);
}

function merge(before: CalibrationUpdate, after: CalibrationUpdate): CalibrationUpdate {
  if (before.attempt !== after.attempt) return after;
  const lines = [...before.lines, ...after.lines];
  const kept = lines.slice(-LINES_KEPT);
  const [oldest] = kept;
  // Where lines had to be left out, the page is told to read them.
  const cut = kept.length < lines.length && oldest ? oldest.seq - 1 : null;
  return { ...after, after_seq: cut ?? before.after_seq, lines: kept };
}
