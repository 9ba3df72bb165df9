import type { Admission } from "../admission";
import { AdmissionGate } from "../admission-gate";
import type { Reservation } from "../ledger";

/** Microseconds of each decision of one block, by what was decided. */
export interface Block {
  /** One comes and queues. */
  queue: number[];
  /** One ends, and who waited longest and fits is let in. */
  grant: number[];
  /** One comes and is refused with its number. */
  refuse: number[];
}

const TENANTS = 16;

/** A gate with so many in its queue, kept at that number while decisions are timed one by one. */
export class DecisionRig {
  private readonly gate: AdmissionGate;
  private readonly running: Reservation[] = [];
  private let = 0;
  private seed = 1;

  constructor(private readonly waiting: number) {
    this.gate = new AdmissionGate(64_000, waiting + 64, undefined, { most: 0, mostOfTenant: 0 });
  }

  async fill(): Promise<void> {
    while (this.gate.waiting < this.waiting) {
      this.ask(3_600_000);
      await Promise.resolve();
    }
    await tick();
  }

  async block(size: number): Promise<Block> {
    const block: Block = { queue: [], grant: [], refuse: [] };
    for (let n = 0; n < size; n++) {
      block.queue.push(timed(() => this.ask(3_600_000)));
      block.refuse.push(timed(() => this.ask(0)));
      await tick();
      const at = Math.floor(this.random() * this.running.length);
      const [one] = this.running.splice(at, 1);
      block.grant.push(timed(() => one?.release()));
      await tick();
      // What one large request left may have let several in: the queue is filled up again, or the next block would time another length.
      while (this.gate.waiting < this.waiting) {
        this.ask(3_600_000);
        await tick();
      }
    }
    return block;
  }

  private ask(deadlineMs: number): void {
    const bytes = 100 + Math.floor(this.random() * 4_000);
    const tenant = `tenant-${this.let++ % TENANTS}`;
    void this.gate.admit({ tenant, bytes, deadlineMs, keepsPlace: false }).then((admission: Admission) => {
      if (admission.outcome === "admitted") this.running.push(admission.reservation);
    });
  }

  /** The same sizes in the same order for every length of queue. */
  private random(): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.seed / 2 ** 32;
  }
}

function timed(work: () => void): number {
  const began = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - began) / 1_000;
}

function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
