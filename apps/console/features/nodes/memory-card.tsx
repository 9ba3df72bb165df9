import type { EngineMemoryReport } from "@helm/contracts";
import { bytes, percent } from "../../ui/numbers";
import { Progress } from "../../ui/progress";
import { Table, Td, Th, Tr } from "../../ui/table";
import { TimeAgo } from "../preferences/time";

type Row = { name: string; used: number | null; budget: number | null; note?: string };

/** What the engine measured beside what it may use; a part that it does not measure says so. */
export function memoryRows(memory: EngineMemoryReport): Row[] {
  const models = memory.models.flatMap((model, index): Row[] => {
    const role = memory.models.length === 2 ? (index === 0 ? "pilot" : "target") : "model";
    const cached = model.kv_cached_bytes;
    return [
      {
        name: `${model.id}, cache`,
        used: model.kv_used_bytes ?? null,
        budget: model.kv_budget_bytes ?? null,
        note: cached ? `${bytes(cached)} more kept for prefixes` : `of the ${role}`,
      },
      { name: `${model.id}, weights`, used: model.weights_bytes ?? null, budget: null },
    ];
  });
  const part = (
    name: string,
    share: { used_bytes: number; budget_bytes: number } | null | undefined,
  ): Row => ({
    name,
    used: share?.used_bytes ?? null,
    budget: share?.budget_bytes ?? null,
  });
  return [
    ...models,
    part("Mappers on the device", memory.mappers),
    part("Mappers in host memory", memory.mappers_host),
    part("Staging", memory.staging),
    { name: "Engine process, main memory", used: memory.process_bytes ?? null, budget: null },
    { name: "GPU memory allocated", used: memory.device_bytes ?? null, budget: null },
  ];
}

export function MemoryTable({ memory }: { memory: EngineMemoryReport | null | undefined }) {
  if (!memory)
    return (
      <p className="text-ink-soft">
        Not reported: there is no fresh measurement, or this engine does not say what it uses.
      </p>
    );
  return (
    <>
      <Table
        caption="Memory against budget"
        head={
          <>
            <Th>What</Th>
            <Th>Used</Th>
            <Th>Budget</Th>
            <Th>Share</Th>
          </>
        }
      >
        {memoryRows(memory).map(({ name, used, budget, note }) => (
          <Tr key={name}>
            <Td label="What" className="font-medium">
              {name}
              {note ? <span className="block text-[0.8125rem] font-normal text-ink-soft">{note}</span> : null}
            </Td>
            <Td label="Used" className="tabular-nums">
              {used === null ? <NotReported /> : bytes(used)}
            </Td>
            <Td label="Budget" className="tabular-nums">
              {budget === null ? <span className="text-ink-soft">none of its own</span> : bytes(budget)}
            </Td>
            <Td label="Share">
              {used === null || !budget ? null : <Share name={name} share={used / budget} />}
            </Td>
          </Tr>
        ))}
      </Table>
      <p className="mt-2 text-[0.8125rem] text-ink-soft">
        Measured by the engine <TimeAgo at={memory.measured_at} />.
      </p>
    </>
  );
}

function NotReported() {
  return <span className="text-ink-soft">not reported</span>;
}

function Share({ name, share }: { name: string; share: number }) {
  const percentage = Math.min(100, share * 100);
  return (
    <span className="flex min-w-32 items-center gap-2">
      <Progress
        slim
        percent={percentage}
        tone={share > 0.9 ? "bad" : "plain"}
        label={`${name}: share of its budget`}
      />
      <span className="w-14 shrink-0 text-right text-[0.8125rem] tabular-nums">{percent(share)}</span>
    </span>
  );
}

/** The two or three figures that fit on a card. */
export function MemoryLine({ memory }: { memory: EngineMemoryReport | null | undefined }) {
  if (!memory) return <span className="text-ink-soft">not reported</span>;
  const words = memory.models.map(({ id, kv_used_bytes, kv_budget_bytes }) =>
    kv_budget_bytes === null || kv_budget_bytes === undefined
      ? `${id} not reported`
      : `${id} ${kv_used_bytes === null || kv_used_bytes === undefined ? "unknown" : bytes(kv_used_bytes)} of ${bytes(kv_budget_bytes)}`,
  );
  return <span className="tabular-nums">{words.join(", ")} of cache in use</span>;
}
