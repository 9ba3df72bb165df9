import { MOST_TRACE_BATCH_BYTES, MOST_TRACES, type RequestTrace, type TraceBatch } from "@helm/contracts";

export interface TraceBounds {
  traces: number;
  bytes: number;
}

export const traceBounds: TraceBounds = { traces: 5_000, bytes: 8 << 20 };

/**
 * Traces that wait to be sent, in memory: prompt texts do not lie on a node's disk. A batch comes back unchanged until it
 * is acknowledged, so that a control plane that restarts loses none; what finds no room is left out and counted.
 */
export class TraceOutbox {
  private waiting: { trace: RequestTrace; bytes: number }[] = [];
  private bytes = 0;
  private pending: { batch: TraceBatch; bytes: number } | null = null;
  private left = 0;

  constructor(private readonly bounds: TraceBounds = traceBounds) {}

  push(trace: RequestTrace): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(trace));
    const full = this.size >= this.bounds.traces || this.bytes + bytes > this.bounds.bytes;
    if (full || bytes > MOST_TRACE_BATCH_BYTES) {
      this.left += 1;
      return false;
    }
    this.waiting.push({ trace, bytes });
    this.bytes += bytes;
    return true;
  }

  /** That wait to be acknowledged, those on their way among them. */
  get size(): number {
    return this.waiting.length + (this.pending?.batch.traces.length ?? 0);
  }

  report(): TraceBatch | null {
    if (this.pending !== null || this.waiting.length === 0) return this.pending?.batch ?? null;
    let bytes = 0;
    let count = 0;
    for (const one of this.waiting.slice(0, MOST_TRACES)) {
      if (count > 0 && bytes + one.bytes > MOST_TRACE_BATCH_BYTES) break;
      bytes += one.bytes;
      count += 1;
    }
    const traces = this.waiting.splice(0, count).map(({ trace }) => trace);
    this.pending = { batch: { traces }, bytes };
    return this.pending.batch;
  }

  sent(batch: TraceBatch): void {
    if (this.pending?.batch !== batch) return;
    this.bytes -= this.pending.bytes;
    this.pending = null;
  }

  /** How many were left out since this was asked last. */
  takeLeftOut(): number {
    const { left } = this;
    this.left = 0;
    return left;
  }
}
