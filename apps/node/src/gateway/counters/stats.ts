import { randomUUID } from "node:crypto";
import { MOST_STATS_ROWS, type NodeStats, type StatsLength } from "@helm/contracts";
import { KeyUse } from "../../config/key-use";

type StatsRow = NodeStats["rows"][number];
export type Served = Omit<StatsRow, "requests" | "first_token_ms_sum" | "shortfall_bytes_sum"> & {
  first_token_ms: number | null;
  shortfall_bytes?: number;
};

/** Counters since the last report, summed by what distinguishes requests for the control plane. */
export class StatsCollector {
  private rows = new Map<string, StatsRow>();
  private lengths = new Map<string, StatsLength>();
  private pending: NodeStats | null = null;
  private since: Date;

  constructor(
    private readonly now: () => Date = () => new Date(),
    private readonly keys: KeyUse = new KeyUse(),
    /** Traces that were left out since the last report. */
    private readonly leftOut: () => number = () => 0,
  ) {
    this.since = this.now();
  }

  add(served: Served): void {
    const { tenant_id, pair_id, decision, reason, transfer } = served;
    const key = JSON.stringify([tenant_id, pair_id, decision, reason, transfer]);
    const row = this.rows.get(key) ?? {
      tenant_id,
      pair_id,
      decision,
      reason,
      transfer,
      requests: 0,
      tokens_moved: 0,
      first_token_ms_sum: 0,
    };
    row.requests += 1;
    row.tokens_moved += served.tokens_moved;
    row.first_token_ms_sum += served.first_token_ms ?? 0;
    if (served.shortfall_bytes !== undefined)
      row.shortfall_bytes_sum = (row.shortfall_bytes_sum ?? 0) + served.shortfall_bytes;
    if (this.rows.has(key) || this.rows.size < MOST_STATS_ROWS) this.rows.set(key, row);
  }

  /** An escalated answer, by the length of its prompt; what has no length or no first token tells nothing. */
  addLength(
    pairId: string,
    transfer: StatsLength["transfer"],
    tokens: number | null,
    firstTokenMs: number | null,
  ): void {
    if (tokens === null || tokens < 1 || firstTokenMs === null) return;
    const from = 2 ** Math.floor(Math.log2(tokens));
    const key = JSON.stringify([pairId, transfer, from]);
    const row = this.lengths.get(key) ?? {
      pair_id: pairId,
      transfer,
      from_tokens: from,
      requests: 0,
      first_token_ms_sum: 0,
      first_token_ms_squares: 0,
    };
    row.requests += 1;
    row.first_token_ms_sum += firstTokenMs;
    row.first_token_ms_squares += firstTokenMs ** 2;
    if (this.lengths.has(key) || this.lengths.size < MOST_STATS_ROWS) this.lengths.set(key, row);
  }

  /**
   * What is to be reported, or null. The same report comes back, unchanged, until `sent` says that it is done with: the
   * control plane knows a repeated one by its `id` and counts it once.
   */
  report(): NodeStats | null {
    if (this.pending !== null || (this.rows.size === 0 && this.keys.empty)) return this.pending;
    const until = this.now();
    this.pending = {
      id: randomUUID(),
      since: this.since.toISOString(),
      until: until.toISOString(),
      rows: [...this.rows.values()],
      lengths: [...this.lengths.values()],
      keys: this.keys.take(),
      traces_dropped: this.leftOut(),
    };
    this.lengths = new Map();
    this.rows = new Map();
    this.since = until;
    return this.pending;
  }

  sent(report: NodeStats): void {
    if (this.pending === report) this.pending = null;
  }
}
