import type { Clock } from "./clock";

/** What is decided by measurements of the engine's memory. */
export type MeasuredDecision =
  /** Sending a request to the pilot with an escalation in mind. */
  | "routing"
  /** Starting a second model beside what runs. */
  | "co_residency"
  | "calibration"
  /** Admitting a request that names its model. */
  | "explicit";

/**
 * How old the last measurement may be. What only makes serving better, or takes memory from it, needs a fresh one; a named model
 * keeps the last limit, since refusing it would make a missing number worse than no memory.
 */
export class Telemetry {
  private measuredAt: number | null = null;

  constructor(
    private readonly freshMs: number,
    private readonly clock: Clock,
  ) {}

  /** The engine was measured just now. */
  note(): void {
    this.measuredAt = this.clock.now();
  }

  /** Another engine: what was measured of the last one says nothing. */
  forget(): void {
    this.measuredAt = null;
  }

  get stale(): boolean {
    return this.measuredAt === null || this.clock.now() - this.measuredAt > this.freshMs;
  }

  allows(decision: MeasuredDecision): boolean {
    return decision === "explicit" ? this.measuredAt !== null : !this.stale;
  }
}
