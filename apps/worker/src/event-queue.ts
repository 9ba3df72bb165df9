import type { CalibrationEvent } from "@helm/contracts";
import { type Outbox, OutboxError } from "@helm/host";

/** What a run's outcome does not depend on. */
const MAY_BE_LEFT_OUT: ReadonlySet<CalibrationEvent["type"]> = new Set(["log", "progress", "metric"]);

/**
 * One run's way into its outbox. Where that is full, log lines, progress and metrics are left out and counted, and a line
 * says so once there is room; a decisive event that finds none ends the run.
 */
export class EventQueue {
  private leftOut = 0;
  private over = false;

  constructor(
    private readonly outbox: Outbox<CalibrationEvent>,
    private readonly onFull: (error: OutboxError) => void,
  ) {}

  add(event: CalibrationEvent): void {
    if (this.over) return;
    const decisive = !MAY_BE_LEFT_OUT.has(event.type);
    if (!decisive && this.leftOut > 0) this.sayWhatIsMissing();
    try {
      if ((!decisive && this.leftOut > 0) || this.outbox.append(event, decisive) === null) this.leftOut += 1;
    } catch (error) {
      if (!(error instanceof OutboxError)) throw error;
      this.over = true;
      this.onFull(error);
    }
  }

  /** Where lines were left out and there is room to say so. */
  sayWhatIsMissing(): void {
    if (this.leftOut === 0) return;
    const message = `${this.leftOut} lines of log, progress and metrics were left out here: the control plane was away, and the worker's outbox was full.`;
    const said = { v: 1, at: new Date().toISOString(), type: "log", level: "warning", message } as const;
    if (this.outbox.append(said, false) !== null) this.leftOut = 0;
  }
}
