import type { DeviceTelemetry } from "@helm/contracts";
import type { DeviceLease, Logger } from "@helm/host";
import { findRemains, type JobRemains, remainsSentence } from "./job-remains";

export interface AftermathSettings {
  /** As people call the device. */
  device: string;
  /** Asks the driver of a GPU; null on a CPU. */
  ask: (() => Promise<DeviceTelemetry>) | null;
  patienceMs?: number;
}

/** Gives a job's lease back once nothing of the job is left; until then nobody computes on its device. */
export class JobAftermath {
  private left: { job: number; lease: DeviceLease; remains: JobRemains } | null = null;

  constructor(
    private readonly settings: AftermathSettings,
    private readonly log: Logger,
  ) {}

  async settle(job: number, lease: DeviceLease): Promise<void> {
    const remains = await findRemains({ job, ...this.settings });
    if (remains === null) {
      this.left = null;
      return lease.release();
    }
    if (this.left === null)
      this.log.error({ job, ...remains }, remainsSentence(remains, this.settings.device));
    this.left = { job, lease, remains };
  }

  /** Looks again: what is left was told to end when the job did. A sentence for as long as something is. */
  async recheck(): Promise<string | null> {
    if (this.left === null) return null;
    await this.settle(this.left.job, this.left.lease);
    return this.left === null ? null : remainsSentence(this.left.remains, this.settings.device);
  }
}
