import { expect, it } from "vitest";
import { explainResident, memoryBudgets, residentParts } from "./engine-memory";
import type { EngineMemoryReport } from "./node-protocol";

const MIB = 1024 ** 2;
const memory: EngineMemoryReport = {
  measured_at: "2026-11-30T12:00:00Z",
  models: [
    {
      id: "small",
      weights_bytes: 5 * MIB,
      load_bytes: 25 * MIB,
      kv_used_bytes: 2 * MIB,
      kv_cached_bytes: MIB,
      kv_budget_bytes: 200 * MIB,
      kv_promised_bytes: 8 * MIB,
      kv_touched_bytes: 6 * MIB,
    },
    { id: "target", weights_bytes: 12 * MIB, load_bytes: 13 * MIB, kv_budget_bytes: 300 * MIB },
  ],
  staging: { used_bytes: 3 * MIB, budget_bytes: 256 * MIB },
  mappers: { used_bytes: 4 * MIB, budget_bytes: 512 * MIB },
  mappers_host: { used_bytes: 0, budget_bytes: 512 * MIB },
  runtime_bytes: 380 * MIB,
  runtime_file_bytes: 100 * MIB,
  scratch_bytes: 9 * MIB,
  untouched_bytes: 1700 * MIB,
  process_bytes: 460 * MIB,
  device_bytes: null,
};

it("sets what is promised, used and measured beside each budget", () => {
  const [small, target] = memoryBudgets(memory);
  expect(small).toEqual({
    what: "small, cache",
    budget: 200 * MIB,
    promised: 8 * MIB,
    used: 2 * MIB,
    measured: 6 * MIB,
    note: "1.0 MiB more kept for prefixes",
  });
  expect(target).toMatchObject({ promised: null, used: null, measured: null, note: null });
  expect(memoryBudgets(memory).map(({ what }) => what)).toContain("Mappers in host memory");
});

it("takes the resident memory apart without a remainder", () => {
  const parts = residentParts(memory);
  expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(460 * MIB);
  expect(parts.find(({ what }) => what === "Working memory")?.bytes).toBe(20 * MIB);
  expect(explainResident(memory)).toBe(
    "460 MiB resident: 380 MiB PyTorch, Python and libraries; 17.0 MiB weights; " +
      "21.0 MiB loading: tokenizers and models' code; 6.0 MiB caches, pages that were written; " +
      "7.0 MiB mappers and staging; 9.0 MiB buffers of the steps; 20.0 MiB working memory. " +
      "Budgets may add 1700 MiB that are promised and not touched yet.",
  );
});

it("counts nothing of a GPU's memory as the process's own", () => {
  const parts = residentParts({ ...memory, device_bytes: 40 * MIB });
  expect(parts.map(({ what }) => what)).not.toContain("Weights");
  expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(460 * MIB);
});

it("says nothing of what was not measured", () => {
  expect(explainResident({ ...memory, runtime_bytes: null })).toBeNull();
  expect(residentParts({ ...memory, process_bytes: null })).toEqual([]);
});
