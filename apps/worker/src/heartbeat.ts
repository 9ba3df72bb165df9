import type { Logger } from "@helm/host";
import { type ControlPlane, isFenced } from "./control-plane";
import { Bell } from "./patience";

export type Order = "cancel" | "fenced";

/** Keeps a job's lease alive, also through the control plane's absence, and hands on what it is told. */
export class Heartbeat {
  private readonly bell = new Bell();
  private stopped = false;
  private waits: string | null;
  private roomFree = false;

  constructor(
    private readonly job: {
      id: string;
      attempt: string;
      leaseMs: number;
      lastSeq: () => number;
      waitsFor?: string | null | undefined;
    },
    private readonly controlPlane: ControlPlane,
    private readonly onOrder: (order: Order) => void,
    private readonly log: Logger,
  ) {
    this.waits = job.waitsFor ?? null;
    void this.run();
  }

  /** What the job has to wait for before it begins, as the control plane said last; null: nothing. */
  get waitsFor(): string | null {
    return this.waits;
  }

  /** Says from now on, and at once, that the job's processes are gone. */
  freeRoom(): void {
    this.roomFree = true;
    this.now();
  }

  /** Beats at once: the control plane hinted that there is something to hear. */
  now(): void {
    this.bell.wake();
  }

  stop(): void {
    this.stopped = true;
    this.bell.wake();
  }

  private async run(): Promise<void> {
    let leaseMs = this.job.leaseMs;
    while (!this.stopped) {
      await this.bell.wait(Math.min(10_000, Math.max(500, leaseMs / 3)));
      if (this.stopped) return;
      try {
        const { id, attempt } = this.job;
        const answer = await this.controlPlane.heartbeat(id, attempt, this.job.lastSeq(), this.roomFree);
        leaseMs = answer.lease_ms;
        this.waits = answer.waits_for ?? null;
        if (answer.action !== "continue") this.onOrder(answer.action);
      } catch (error) {
        if (isFenced(error)) this.onOrder("fenced");
        else this.log.warn({ err: error, job: this.job.id }, "a heartbeat was not answered");
      }
    }
  }
}
