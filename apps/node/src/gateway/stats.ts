import type { NodeStats } from "@helm/contracts";

type StatsRow = NodeStats["rows"][number];
export type Served = Omit<StatsRow, "requests" | "first_token_ms_sum"> & { first_token_ms: number | null };

const MOST_ROWS = 5_000;

/** Counters since the last report, summed by what distinguishes requests for the control plane. */
export class StatsCollector {
  private rows = new Map<string, StatsRow>();
  private since = new Date();

  constructor(private readonly now: () => Date = () => new Date()) {
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
    if (this.rows.has(key) || this.rows.size < MOST_ROWS) this.rows.set(key, row);
  }

  /** What is to be reported, or null; it stays until `sent` says that it arrived. */
  report(): NodeStats | null {
    if (this.rows.size === 0) return null;
    return {
      since: this.since.toISOString(),
      until: this.now().toISOString(),
      rows: [...this.rows.values()].map((row) => ({ ...row })),
    };
  }

  sent(report: NodeStats): void {
    for (const { tenant_id, pair_id, decision, reason, transfer, ...counted } of report.rows) {
      const key = JSON.stringify([tenant_id, pair_id, decision, reason, transfer]);
      const row = this.rows.get(key);
      if (!row) continue;
      row.requests -= counted.requests;
      row.tokens_moved -= counted.tokens_moved;
      row.first_token_ms_sum -= counted.first_token_ms_sum;
      if (row.requests <= 0) this.rows.delete(key);
    }
    this.since = new Date(report.until);
  }
}
