import type { ConsolesResult } from "./consoles";
import type { Machine } from "./machine";
import type { QueryMeasure } from "./measure-queries";
import type { WorkersResult } from "./workers";

export interface MemoryResult {
  controlPlaneMiB: number;
  consoleMiB: number;
  /** How it was read: proportional share where the system tells it, else resident. */
  kind: string;
}

/** Everything that one run of the bench measured; null where a part was left out. */
export interface Measured {
  before: Machine;
  after: Machine;
  consoles: ConsolesResult | null;
  queries: {
    measured: QueryMeasure[];
    unknown: string[];
    loadSeconds: number;
    rows: Record<string, number>;
  } | null;
  workers: WorkersResult | null;
  memory: MemoryResult | null;
}
