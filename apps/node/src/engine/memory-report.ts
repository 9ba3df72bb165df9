import type { EngineMemoryReport } from "@helm/contracts";
import type { EngineMemory } from "./engine-facts";

/** What an engine measured of itself, as the control plane is told it. What it does not measure stays away. */
export function reportMemory(memory: EngineMemory, at: Date): EngineMemoryReport {
  return {
    measured_at: at.toISOString(),
    models: Object.entries(memory.models).map(([id, model]) => ({
      id,
      weights_bytes: model.weights_bytes ?? null,
      kv_used_bytes: model.kv_used_bytes ?? null,
      kv_cached_bytes: model.kv_cached_bytes ?? null,
      kv_budget_bytes: model.kv_budget_bytes,
    })),
    staging: memory.staging ?? null,
    mappers: memory.mappers ?? null,
    mappers_host: memory.mappers_host ?? null,
    process_bytes: memory.process_resident_bytes ?? null,
    device_bytes: memory.device_allocated_bytes ?? null,
  };
}
