import type { Context } from "../context";
import { actingHost } from "../host/acting-host";
import { inTransaction } from "../transaction";
import { type AckInput, recordAcks, type TakenAck } from "./record-acks";
import { recordNack } from "./record-nack";

const MOST = 1_000;
const step = { audited: false, publish: false };

interface Entry {
  ctx: Context;
  ack: TakenAck;
  settle: (failed: unknown | null) => void;
}

/** Writes acks as they come: while one transaction runs the next ones gather, and share theirs. */
export class AckBook {
  private waiting: Entry[] = [];
  private writing = false;

  /** Resolves once the ack is committed. */
  record(ctx: Context, input: AckInput): Promise<void> {
    // What a node refuses says more than that, and is rare.
    if (!input.ack.ok) return inTransaction(ctx, step, (inner) => recordNack({ ctx: inner, input }));
    const { kind, sent, ack } = input;
    const nodeId = actingHost(ctx, "node").id;
    return new Promise((resolve, reject) => {
      this.waiting.push({
        ctx,
        ack: { nodeId, kind, sent, sha256: ack.sha256, at: new Date() },
        settle: (failed) => (failed === null ? resolve() : reject(failed)),
      });
      if (!this.writing) void this.write();
    });
  }

  private async write(): Promise<void> {
    this.writing = true;
    // Those that answer in the same moment come first.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const entries = this.waiting.splice(0, MOST);
      const first = entries[0] as Entry;
      const failed = await inTransaction(first.ctx, step, (ctx) =>
        recordAcks(
          ctx,
          entries.map((entry) => entry.ack),
        ),
      ).then(
        () => null,
        (error: unknown) => error,
      );
      // One that cannot be written (its node is gone) is not the others' fault.
      if (failed !== null && entries.length > 1) await Promise.all(entries.map(writeAlone));
      else for (const entry of entries) entry.settle(failed);
    }
    this.writing = false;
  }
}

async function writeAlone({ ctx, ack, settle }: Entry): Promise<void> {
  await inTransaction(ctx, step, (inner) => recordAcks(inner, [ack])).then(
    () => settle(null),
    (error: unknown) => settle(error ?? new Error("the ack could not be recorded")),
  );
}
