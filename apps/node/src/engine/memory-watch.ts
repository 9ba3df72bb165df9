import { type Clock, systemClock, Telemetry } from "@helm/admission";
import type { EngineMemoryReport } from "@helm/contracts";
import type { Logger } from "@helm/host";
import { reportMemory } from "./memory-report";
import type { ServingEngine } from "./serving-engine";

export const MEASURE_EVERY_MS = 10_000;
/** Three measurements may be missed. */
export const FRESH_MS = 3 * MEASURE_EVERY_MS;

/**
 * Measures the engine's memory now and again: the gates' limits follow, a report never waits for its engine, and decisions that
 * need a fresh measurement know when there is none.
 */
export class MemoryWatch {
  readonly telemetry: Telemetry;
  private engine: ServingEngine | null = null;
  private last: EngineMemoryReport | null = null;
  private timer: NodeJS.Timeout | null = null;
  private told = false;

  constructor(
    private readonly log: Logger,
    clock: Clock = systemClock,
  ) {
    this.telemetry = new Telemetry(FRESH_MS, clock);
  }

  /** Null while nothing fresh is known. */
  get report(): EngineMemoryReport | null {
    return this.telemetry.stale ? null : this.last;
  }

  start(): void {
    this.timer = setInterval(() => void this.measure(), MEASURE_EVERY_MS);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** An engine that joins the serving path was measured on its way there. */
  engineChanged(engine: ServingEngine | null): void {
    this.engine = engine;
    this.last = null;
    this.telemetry.forget();
    if (!engine) return;
    this.last = reportMemory(engine.memory, engine.gates, new Date());
    this.telemetry.note();
  }

  async measure(): Promise<void> {
    const { engine } = this;
    if (!engine) return;
    const measured = await engine.client.memory().catch(() => null);
    if (engine !== this.engine) return;
    if (measured === null) return this.missed();
    this.told = false;
    this.last = reportMemory(measured, engine.gates, new Date());
    this.telemetry.note();
    for (const [name, gate] of engine.gates) {
      const budget = measured.models[name]?.kv_budget_bytes;
      if (budget !== undefined && budget !== gate.capacity) gate.measure(budget);
    }
  }

  private missed(): void {
    if (!this.telemetry.stale || this.told) return;
    this.told = true;
    this.log.warn(
      "the engine has not told its memory for too long: routes are served by their target until it does",
    );
  }
}
