import type { EngineMemoryReport } from "./node-protocol";

type Bytes = number | null;

/** A budget, and what became of it: promised to requests, held by them, and lying in memory as it was measured. */
export interface MemoryBudget {
  what: string;
  budget: Bytes;
  promised: Bytes;
  used: Bytes;
  measured: Bytes;
  note: string | null;
}

/** What a part of the resident memory is; the parts add up to the whole. */
export interface ResidentPart {
  what: string;
  bytes: number;
  note: string | null;
}

/** Budgets of an engine beside what is used of them. What it does not measure is null. */
export function memoryBudgets(memory: EngineMemoryReport): MemoryBudget[] {
  const roles = memory.models.length === 2 ? ["pilot", "target"] : [];
  const caches = memory.models.map((model, place): MemoryBudget => {
    const cached = model.kv_cached_bytes ?? 0;
    const role = roles[place] && roles[place] !== model.id ? `of the ${roles[place]}` : null;
    return {
      what: `${model.id}, cache`,
      budget: model.kv_budget_bytes ?? null,
      promised: model.kv_promised_bytes ?? null,
      used: model.kv_used_bytes ?? null,
      measured: model.kv_touched_bytes ?? null,
      note: cached > 0 ? `${mib(cached)} MiB more kept for prefixes` : role,
    };
  });
  const weights = memory.models.map((model) => ({
    what: `${model.id}, weights`,
    budget: null,
    promised: null,
    used: model.weights_bytes ?? null,
    measured: model.load_bytes ?? null,
    note: model.load_bytes ? "measured with tokenizer and code" : null,
  }));
  return [
    ...caches,
    ...weights,
    sharedBudget("Mappers on the device", memory.mappers),
    sharedBudget("Mappers in host memory", memory.mappers_host),
    sharedBudget("Staging", memory.staging),
  ];
}

/** What is written there is written whole: what is used lies in memory. */
function sharedBudget(
  what: string,
  share: { used_bytes: number; budget_bytes: number } | null | undefined,
): MemoryBudget {
  const used = share?.used_bytes ?? null;
  return { what, budget: share?.budget_bytes ?? null, promised: null, used, measured: used, note: null };
}

/** Of what the engine's process holds in main memory, what is what; empty where it was not measured. */
export function residentParts(memory: EngineMemoryReport): ResidentPart[] {
  const { process_bytes: whole, runtime_bytes: runtime, runtime_file_bytes: files } = memory;
  if (whole == null || runtime == null) return [];
  const onGpu = memory.device_bytes != null;
  const weights = onGpu ? 0 : sum(memory.models.map((model) => model.weights_bytes));
  const loads = sum(memory.models.map((model) => model.load_bytes ?? model.weights_bytes));
  const parts: ResidentPart[] = [
    {
      what: "PyTorch, Python and libraries",
      bytes: runtime,
      note: files
        ? `before any model was loaded; ${mib(files)} MiB of it libraries' files, which other processes share`
        : "before any model was loaded",
    },
    { what: "Weights", bytes: weights, note: null },
    { what: "Loading: tokenizers and models' code", bytes: Math.max(0, loads - weights), note: null },
    {
      what: "Caches, pages that were written",
      bytes: onGpu ? 0 : sum(memory.models.map((model) => model.kv_touched_bytes)),
      note: null,
    },
    {
      what: "Mappers and staging",
      bytes: sum([
        onGpu ? 0 : memory.mappers?.used_bytes,
        memory.mappers_host?.used_bytes,
        memory.staging?.used_bytes,
      ]),
      note: null,
    },
    { what: "Buffers of the steps", bytes: onGpu ? 0 : (memory.scratch_bytes ?? 0), note: null },
  ];
  const rest = whole - sum(parts.map((part) => part.bytes));
  const known = parts.filter((part) => part.bytes > 0);
  if (rest > 0)
    known.push({
      what: "Working memory",
      bytes: rest,
      note: "not counted apart: activations, rotary tables, connections, what the allocator keeps",
    });
  return known;
}

/** One sentence: what is resident, of what, and what budgets may still add. Null where it was not measured. */
export function explainResident(memory: EngineMemoryReport): string | null {
  const parts = residentParts(memory);
  if (parts.length === 0 || memory.process_bytes == null) return null;
  const words = parts.map(
    (part) => `${mib(part.bytes)} MiB ${part.what[0]?.toLowerCase()}${part.what.slice(1)}`,
  );
  const more = memory.untouched_bytes;
  const promised =
    more == null ? "" : ` Budgets may add ${mib(more)} MiB that are promised and not touched yet.`;
  return `${mib(memory.process_bytes)} MiB resident: ${words.join("; ").replace("pyTorch", "PyTorch")}.${promised}`;
}

const sum = (values: readonly (number | null | undefined)[]) =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);

function mib(bytes: number): string {
  const size = bytes / 1024 ** 2;
  return size >= 100 ? size.toFixed(0) : size.toFixed(1);
}
