import { type EngineMemoryReport, explainResident, memoryBudgets, residentParts } from "@helm/contracts";
import { bytes, percent } from "../../ui/numbers";
import { Progress } from "../../ui/progress";
import { Table, Td, Th, Tr } from "../../ui/table";
import { TimeAgo } from "../preferences/time";

/** Budgets beside what became of them, and the process's whole memory taken apart. */
export function MemoryTable(props: { memory: EngineMemoryReport | null | undefined; parked: boolean }) {
  const { memory, parked } = props;
  if (!memory)
    return (
      <p className="text-ink-soft">
        {parked
          ? "The engine is stopped and holds no memory until the calibration has ended."
          : "Not reported: there is no fresh measurement, or this engine does not say what it uses."}
      </p>
    );
  return (
    <>
      <BudgetTable memory={memory} />
      <ResidentMemory memory={memory} />
      <p className="mt-3 text-[0.8125rem] text-ink-soft">
        Measured by the engine <TimeAgo at={memory.measured_at} />.
        {memory.free_bytes != null && memory.reserve_bytes != null
          ? ` Free then: ${bytes(memory.free_bytes)}, of which ${bytes(memory.reserve_bytes)} stay in reserve.`
          : ""}
      </p>
    </>
  );
}

function BudgetTable({ memory }: { memory: EngineMemoryReport }) {
  return (
    <Table
      caption="Memory against budget"
      head={
        <>
          <Th>What</Th>
          <Th>Budget</Th>
          <Th>Promised</Th>
          <Th>Used</Th>
          <Th>Measured</Th>
          <Th>Of the budget</Th>
        </>
      }
    >
      {memoryBudgets(memory).map(({ what, budget, promised, used, measured, note }) => (
        <Tr key={what}>
          <Td label="What" className="font-medium">
            {what}
            {note ? <span className="block text-[0.8125rem] font-normal text-ink-soft">{note}</span> : null}
          </Td>
          <Td label="Budget" className="tabular-nums">
            {budget === null ? <span className="text-ink-soft">none of its own</span> : bytes(budget)}
          </Td>
          <Td label="Promised" className="tabular-nums">
            {promised === null ? <span className="text-ink-soft">-</span> : bytes(promised)}
          </Td>
          <Td label="Used" className="tabular-nums">
            {used === null ? <NotReported /> : bytes(used)}
          </Td>
          <Td label="Measured" className="tabular-nums">
            {measured === null ? <NotReported /> : bytes(measured)}
          </Td>
          <Td label="Of the budget">
            {budget ? (
              <span className="block min-w-40 space-y-1">
                <Share what={what} kind="promised" part={promised} budget={budget} />
                <Share what={what} kind="used" part={used} budget={budget} />
                <Share what={what} kind="measured" part={measured} budget={budget} />
              </span>
            ) : null}
          </Td>
        </Tr>
      ))}
    </Table>
  );
}

function NotReported() {
  return <span className="text-ink-soft">not reported</span>;
}

function Share(props: { what: string; kind: string; part: number | null; budget: number }) {
  const { what, kind, part, budget } = props;
  if (part === null) return null;
  const share = part / budget;
  return (
    <span className="flex items-center gap-2 text-[0.8125rem]">
      <span className="w-16 shrink-0 text-ink-soft">{kind}</span>
      <Progress
        slim
        percent={Math.min(100, share * 100)}
        // Measured pages stay as kept prefixes: that a budget was once full is no shortage.
        tone={share > 0.9 && kind !== "measured" ? "bad" : "plain"}
        label={`${what}: ${kind}, share of its budget`}
      />
      <span className="w-14 shrink-0 text-right tabular-nums">{percent(share)}</span>
    </span>
  );
}

/** The gap between budgets and what the system counts for the process, explained. */
function ResidentMemory({ memory }: { memory: EngineMemoryReport }) {
  const parts = residentParts(memory);
  const whole = memory.process_bytes ?? 0;
  return (
    <section className="mt-5">
      <h3 className="font-medium">The engine's process in main memory</h3>
      <p className="mt-1 mb-2 max-w-prose text-ink-soft">
        {explainResident(memory) ??
          (whole > 0 ? `${bytes(whole)} resident; this engine does not say of what.` : "Not reported.")}
      </p>
      {parts.length > 0 ? (
        <Table
          caption="What the resident memory consists of"
          head={
            <>
              <Th>Part</Th>
              <Th>Bytes</Th>
              <Th>Of the whole</Th>
            </>
          }
        >
          {parts.map(({ what, bytes: size, note }) => (
            <Tr key={what}>
              <Td label="Part" className="font-medium">
                {what}
                {note ? (
                  <span className="block text-[0.8125rem] font-normal text-ink-soft">{note}</span>
                ) : null}
              </Td>
              <Td label="Bytes" className="tabular-nums">
                {bytes(size)}
              </Td>
              <Td label="Of the whole">
                <span className="flex min-w-32 items-center gap-2">
                  <Progress
                    slim
                    tone="plain"
                    percent={(100 * size) / whole}
                    label={`${what}: share of the whole`}
                  />
                  <span className="w-14 shrink-0 text-right text-[0.8125rem] tabular-nums">
                    {percent(size / whole)}
                  </span>
                </span>
              </Td>
            </Tr>
          ))}
        </Table>
      ) : null}
      {memory.device_bytes != null ? (
        <p className="mt-2 text-ink-soft">
          Of the GPU's memory PyTorch's allocator holds {bytes(memory.device_bytes)}.
        </p>
      ) : null}
    </section>
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
