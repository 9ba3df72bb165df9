import type { EngineMemoryReport } from "@helm/contracts";
import type { EngineMemory } from "./engine-facts";

/**
 * What an engine measured of itself, as the control plane is told it, and what its gates have promised. What it does not
 * measure stays away.
 */
export function reportMemory(
  memory: EngineMemory,
  gates: ReadonlyMap<string, { readonly reserved: number }>,
  at: Date,
): EngineMemoryReport {
  return {
    measured_at: at.toISOString(),
    models: Object.entries(memory.models).map(([id, model]) => ({
      id,
      weights_bytes: model.weights_bytes ?? null,
      kv_used_bytes: model.kv_used_bytes ?? null,
      kv_cached_bytes: model.kv_cached_bytes ?? null,
      kv_budget_bytes: model.kv_budget_bytes,
      kv_promised_bytes: gates.get(id)?.reserved ?? null,
      kv_touched_bytes: model.kv_touched_bytes ?? null,
      load_bytes: model.load_bytes ?? null,
    })),
    staging: memory.staging ?? null,
    mappers: memory.mappers ?? null,
    mappers_host: memory.mappers_host ?? null,
    runtime_bytes: memory.runtime_bytes ?? null,
    runtime_file_bytes: memory.runtime_file_bytes ?? null,
    scratch_bytes: memory.scratch_bytes ?? null,
    free_bytes: memory.free_bytes ?? null,
    reserve_bytes: memory.reserve_bytes ?? null,
    untouched_bytes: memory.untouched_bytes ?? null,
    process_bytes: memory.process_resident_bytes ?? null,
    device_bytes: memory.device_allocated_bytes ?? null,
  };
}
