import { ReportAnswer } from "@helm/contracts";
import type { Logger } from "@helm/host";
import type { Socket } from "socket.io-client";

const ACK_MS = 10_000;

/** Gives the same report, unchanged, until it is told that this one is done with. */
export interface ReportSource<T> {
  report(): T | null;
  sent(report: T): void;
}

/** One kind of report on its way to the control plane: one at a time, the same again until it is taken. */
export class ReportLane<T = unknown> {
  private sending = false;

  constructor(
    private readonly socket: Socket,
    private readonly event: "stats" | "traces",
    private readonly source: ReportSource<T>,
    private readonly log: Logger,
  ) {}

  /** Everything there is, one report after the other; stops where one is not taken. */
  async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      for (let report = this.source.report(); report !== null; report = this.source.report()) {
        if (!this.socket.connected || !(await this.deliver(report))) return;
      }
    } finally {
      this.sending = false;
    }
  }

  private async deliver(report: T): Promise<boolean> {
    const { event } = this;
    try {
      const said: unknown = await this.socket.timeout(ACK_MS).emitWithAck(event, report);
      const { ok, refused } = ReportAnswer.safeParse(said).data ?? { ok: false };
      if (!ok && !refused) return false;
      // Sent for ever, it would keep all later ones from arriving.
      if (!ok) this.log.error({ event }, "the control plane will never take this report; it is lost");
      this.source.sent(report);
      return true;
    } catch (error) {
      this.log.debug({ err: error, event }, "a report was not acknowledged and will be sent again");
      return false;
    }
  }
}
