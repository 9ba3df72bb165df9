import type { DeviceTelemetry } from "@helm/contracts";
import type { DeviceLease, Logger } from "@helm/host";
import { findRemains, remainsSentence } from "./job-remains";

export interface AftermathSettings {
  /** As people call the device. */
  device: string;
  /** Asks the driver of a GPU; null on a CPU. */
  ask: (() => Promise<DeviceTelemetry>) | null;
  patienceMs?: number;
}

/** Gives a job's lease back once nothing of the job is left; until then nobody computes on its device. */
export class JobAftermath {
  private left: { job: number; lease: DeviceLease; sentence: string } | null = null;

  constructor(
    private readonly settings: AftermathSettings,
    private readonly log: Logger,
  ) {}

  /** Never rejects: where nobody can tell what is left, something may be. */
  async settle(job: number, lease: DeviceLease): Promise<void> {
    const sentence = await this.whatIsLeft(job);
    if (sentence === null) {
      this.left = null;
      return lease.release();
    }
    if (this.left === null) this.log.error({ job }, sentence);
    this.left = { job, lease, sentence };
  }

  /** Looks again: what is left was told to end when the job did. A sentence for as long as something is. */
  async recheck(): Promise<string | null> {
    if (this.left === null) return null;
    await this.settle(this.left.job, this.left.lease);
    return this.left?.sentence ?? null;
  }

  private async whatIsLeft(job: number): Promise<string | null> {
    const { device } = this.settings;
    try {
      const remains = await findRemains({ job, ...this.settings });
      return remains && remainsSentence(remains, device);
    } catch (error) {
      return `Whether the last job left anything on ${device} cannot be told, and no job is taken until it can: ${(error as Error).message}`.slice(
        0,
        480,
      );
    }
  }
}
