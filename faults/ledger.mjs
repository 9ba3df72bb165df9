import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What was promised: for each attempt the events its worker numbered (from its outbox on disk, copied while they are
 * there) and the last number the control plane acknowledged (from the worker's own log). Rows are held against it.
 */
export class Ledger {
  /** attempt -> {events: Map(seq -> event), acked} */
  attempts = new Map();
  timer = null;

  constructor(stateDir) {
    this.stateDir = stateDir;
  }

  start() {
    this.timer = setInterval(() => this.look(), 40);
  }

  stop() {
    clearInterval(this.timer);
    this.look();
  }

  of(attempt) {
    if (!this.attempts.has(attempt)) this.attempts.set(attempt, { events: new Map(), acked: 0 });
    return this.attempts.get(attempt);
  }

  look() {
    const workers = join(this.stateDir, "workers");
    for (const worker of existsSync(workers) ? readdirSync(workers) : []) {
      const outbox = join(workers, worker, "outbox");
      for (const queue of existsSync(outbox) ? readdirSync(outbox) : []) this.readQueue(join(outbox, queue));
    }
  }

  readQueue(folder) {
    const record = readOrNull(join(folder, "job.json"));
    const lines = readOrNull(join(folder, "events.jsonl"));
    if (!record || lines === null) return;
    const entry = this.of(JSON.parse(record).attempt);
    for (const line of lines.split("\n").slice(0, -1)) {
      try {
        const { seq, event } = JSON.parse(line);
        entry.events.set(seq, event);
      } catch {
        // Being written at this moment.
      }
    }
    entry.acked = Math.max(entry.acked, Number(readOrNull(join(folder, "acked")) ?? 0));
  }
}

function readOrNull(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Faults between what was promised and what stands in the table. */
export function ledgerFaults(entry, rows, name) {
  const faults = [];
  const seqs = rows.map((row) => row.seq);
  if (seqs.some((seq, i) => seq !== i + 1)) faults.push(`${name}: rows are not 1..n: ${seqs.join(" ")}`);
  if (rows.length < entry.acked)
    faults.push(`${name}: ${entry.acked} events acknowledged, ${rows.length} rows`);
  for (const row of rows) {
    const said = entry.events.get(row.seq);
    if (!said) continue;
    if (said.type !== row.type) faults.push(`${name}: row ${row.seq} is ${row.type}, sent was ${said.type}`);
    if (said.type === "log" && said.message !== row.body.message)
      faults.push(`${name}: log row ${row.seq} differs`);
    if (said.type === "progress" && said.percent !== row.body.percent)
      faults.push(`${name}: progress row ${row.seq} differs`);
  }
  return faults;
}
