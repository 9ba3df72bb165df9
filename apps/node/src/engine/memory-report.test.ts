import { EngineMemoryReport } from "@helm/contracts";
import { expect, it } from "vitest";
import { EngineMemory } from "./engine-facts";
import { reportMemory } from "./memory-report";

const at = new Date("2026-11-30T12:00:00Z");
const least = { kv_bytes_per_token: 64, kv_block_tokens: 16, kv_budget_bytes: 4096 };

it("hands on what the reference engine measures", () => {
  const memory = EngineMemory.parse({
    device: "cpu",
    models: {
      pilot: {
        ...least,
        weights_bytes: 900,
        kv_used_bytes: 128,
        kv_cached_bytes: 64,
        kv_pool_bytes: 5120,
        kv_touched_bytes: 256,
        load_bytes: 950,
      },
    },
    staging: { used_bytes: 1, budget_bytes: 10, entries: 1 },
    mappers: { used_bytes: 2, budget_bytes: 20 },
    mappers_host: { used_bytes: 3, budget_bytes: 30 },
    runtime_bytes: 3000,
    runtime_file_bytes: 1000,
    scratch_bytes: 7,
    free_bytes: 70,
    reserve_bytes: 60,
    untouched_bytes: 50,
    process_resident_bytes: 5000,
    device_allocated_bytes: null,
  });
  const gates = new Map([["pilot", { reserved: 512 }]]);
  expect(EngineMemoryReport.parse(reportMemory(memory, gates, at))).toEqual({
    measured_at: at.toISOString(),
    models: [
      {
        id: "pilot",
        weights_bytes: 900,
        kv_used_bytes: 128,
        kv_cached_bytes: 64,
        kv_budget_bytes: 4096,
        kv_promised_bytes: 512,
        kv_touched_bytes: 256,
        load_bytes: 950,
      },
    ],
    staging: { used_bytes: 1, budget_bytes: 10 },
    mappers: { used_bytes: 2, budget_bytes: 20 },
    mappers_host: { used_bytes: 3, budget_bytes: 30 },
    runtime_bytes: 3000,
    runtime_file_bytes: 1000,
    scratch_bytes: 7,
    free_bytes: 70,
    reserve_bytes: 60,
    untouched_bytes: 50,
    process_bytes: 5000,
    device_bytes: null,
  });
});

it("invents nothing that an engine does not measure", () => {
  const report = reportMemory(EngineMemory.parse({ models: { pilot: least } }), new Map(), at);
  expect(report).toMatchObject({
    staging: null,
    mappers: null,
    mappers_host: null,
    process_bytes: null,
    device_bytes: null,
  });
  expect(report.models).toEqual([
    {
      id: "pilot",
      weights_bytes: null,
      kv_used_bytes: null,
      kv_cached_bytes: null,
      kv_budget_bytes: 4096,
      kv_promised_bytes: null,
      kv_touched_bytes: null,
      load_bytes: null,
    },
  ]);
});
