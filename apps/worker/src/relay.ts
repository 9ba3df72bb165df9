import type { CalibrationEvent, NumberedEvent } from "@helm/contracts";
import type { Logger, Outbox } from "@helm/host";
import type { z } from "zod";
import { type ControlPlane, isRefused } from "./control-plane";
import { Bell, untilAnswered } from "./patience";

type Numbered = z.infer<typeof NumberedEvent>;

const BATCH_EVENTS = 100;
const BATCH_BYTES = 512 * 1024;
/** Several events a moment apart travel together. */
const GATHER_MS = 100;

/** Sends one job's events in order, each batch after the one before was acknowledged, however long that takes. */
export class Relay {
  private readonly bell = new Bell();
  private stopped = new AbortController();
  private readonly running: Promise<void>;
  private closing = false;

  constructor(
    private readonly outbox: Outbox<CalibrationEvent>,
    private readonly to: { job: string; attempt: string; controlPlane: ControlPlane },
    private readonly log: Logger,
  ) {
    this.running = this.run();
    this.running.catch(() => undefined);
  }

  /** Something is waiting, or the way may be open again. */
  wake(): void {
    this.bell.wake();
  }

  /** Resolves once all is delivered. Errors: what the control plane refused for good, as it said it. */
  async drain(): Promise<void> {
    this.closing = true;
    this.bell.wake();
    await this.running;
  }

  /** Called once the control plane takes no more of these events, so that the job need not run on for nothing. */
  onRefused(tell: () => void): void {
    this.running.catch((error: unknown) => {
      if (isRefused(error)) tell();
    });
  }

  /** Stops without delivering the rest; it stays in the outbox. */
  abandon(): void {
    this.stopped.abort(new Error("The relay was stopped."));
    this.bell.wake();
  }

  private async run(): Promise<void> {
    const { job, attempt, controlPlane } = this.to;
    for (;;) {
      this.stopped.signal.throwIfAborted();
      const events = this.nextBatch();
      if (events.length === 0) {
        if (this.closing) return;
        await this.bell.wait(60_000);
        if (!this.closing) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
        continue;
      }
      const ack = await untilAnswered(
        () => controlPlane.events({ job, attempt, events, sent_at: new Date().toISOString() }),
        this.bell,
        this.stopped.signal,
      );
      await this.outbox.ack(ack.last_seq);
      this.log.debug({ job, seq: ack.last_seq }, "events delivered");
    }
  }

  private nextBatch(): Numbered[] {
    const batch: Numbered[] = [];
    let bytes = 0;
    for (const record of this.outbox.pending(BATCH_EVENTS)) {
      bytes += JSON.stringify(record).length;
      if (batch.length > 0 && bytes > BATCH_BYTES) break;
      batch.push(record);
    }
    return batch;
  }
}
