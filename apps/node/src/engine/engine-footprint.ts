import type { EngineMemory } from "./engine-facts";

/** What an engine holds of its device's memory once it is loaded, and the most that it may come to hold. */
export interface EngineFootprint {
  footprintBytes: number;
  budgetBytes: number;
}

type Share = { used_bytes: number; budget_bytes: number } | null | undefined;

/**
 * From the engine's own measurement after its load. `deviceBytes` is what a GPU's driver counts for its process, its
 * contexts too; without it the engine's own count stands. A budget that is not used yet is promised all the same.
 */
export function footprintOf(
  memory: EngineMemory,
  device: "cpu" | "gpu",
  deviceBytes: number | null = null,
): EngineFootprint {
  const own = device === "cpu" ? memory.process_resident_bytes : memory.device_allocated_bytes;
  const footprintBytes = deviceBytes ?? own ?? 0;
  const caches = Object.values(memory.models).map((model) => ({
    budget_bytes: model.kv_pool_bytes ?? model.kv_budget_bytes,
    // Without a measurement of its pages: what is kept for its prefix was written, as what is used was.
    used_bytes: model.kv_touched_bytes ?? (model.kv_used_bytes ?? 0) + (model.kv_cached_bytes ?? 0),
  }));
  // Staging lies in main memory whatever the device is; so do mappers that the device has no room for.
  const shares: Share[] = [...caches, memory.mappers];
  if (device === "cpu") shares.push(memory.staging, memory.mappers_host);
  const unfilled = shares.map((share) => (share ? Math.max(0, share.budget_bytes - share.used_bytes) : 0));
  return { footprintBytes, budgetBytes: footprintBytes + unfilled.reduce((sum, bytes) => sum + bytes, 0) };
}
