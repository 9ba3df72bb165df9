import type { CalibrationRoom, DeviceProcess, DeviceTelemetry } from "@helm/contracts";

/** An engine of ours on the device, as its lease names it. */
export interface OwnEngine {
  pid: number;
  /** The most that it may come to hold, and what it held once it was loaded. */
  budget_bytes: number;
  footprint_bytes: number;
}

/** What a calibration may take of its device. */
export interface ComputeBudget {
  /** Bytes that it needs to be free. */
  neededBytes: number;
  /** Percent of a GPU's time that may be taken when it starts. */
  mostUtilisation: number;
  /** Programs that watch GPUs and compute nothing, by name. */
  observers: readonly string[];
}

export interface DeviceWord {
  /** Kinds of calibration that could start now. */
  rooms: CalibrationRoom[];
  /** Why one is missing, with the next step; null where none is. */
  sentence: string | null;
  free_bytes: number | null;
  /** Of what is free, what our engines were promised and have not taken yet. */
  promised_bytes: number;
  needed_bytes: number;
}

/** Memory in use that no listed process holds, above which somebody unseen computes: below it lie driver and display. */
const UNLISTED_BYTES = 512 * 1024 ** 2;

/**
 * Whether a calibration may start on a device: only where it is shown to be free. What the telemetry does not say, a
 * process that is not ours, and one that cannot be looked at all mean that it is not. Draining helps against our own
 * engines alone.
 */
export function judgeDevice(
  device: DeviceTelemetry,
  engines: readonly OwnEngine[],
  starting: { pid: number } | null,
  budget: ComputeBudget,
): DeviceWord {
  const held = engines.map((engine) => heldBy(engine, device));
  const promised = promisedTo(engines, device);
  const numbers = {
    free_bytes: device.memory?.free_bytes ?? null,
    promised_bytes: promised,
    needed_bytes: budget.neededBytes,
  };
  const none = (sentence: string): DeviceWord => ({ rooms: [], sentence, ...numbers });

  const missing = missingTelemetry(device);
  if (missing || !device.memory) return none(missing ?? "");
  const foreign = foreignUse(device, engines, starting, budget.observers);
  if (foreign) return none(foreign);
  if (starting) {
    return none(
      `Process ${starting.pid} starts an engine on ${device.name}; what is left is known once it has been measured.`,
    );
  }

  const { free_bytes: free } = device.memory;
  const ours = held.reduce((sum, bytes) => sum + bytes, 0);
  const beside = free - promised;
  const short = budget.neededBytes - beside;
  const busy = engines.length > 0 && (device.utilisation ?? 0) > budget.mostUtilisation;
  if (short <= 0 && !busy) return { rooms: ["beside", "drain"], sentence: null, ...numbers };
  const drains = engines.length > 0 && free + ours >= budget.neededBytes;
  return { rooms: drains ? ["drain"] : [], sentence: short > 0 ? shortOf(drains) : busyWith(), ...numbers };

  function shortOf(drains: boolean): string {
    const kept = promised > 0 ? `, of which ${gib(promised)} are promised to ${count(engines.length)}` : "";
    const step = drains
      ? "Drain the node for the run, lower its engine's budgets, or free memory."
      : `Free ${gib(short)}, or set HELM_COMPUTE_BUDGET_BYTES to what your pairs take.`;
    return `A calibration needs ${gib(budget.neededBytes)} of ${device.name}; ${gib(free)} are free${kept}. ${step}`;
  }

  function busyWith(): string {
    return `${device.name} is ${device.utilisation} % busy with our own engines, and a calibration may start beside them at ${budget.mostUtilisation} % or less. Drain the node for the run, or wait.`;
  }
}

/** Bytes that engines may still come to take: free to the driver or the system, and spoken for. */
export function promisedTo(engines: readonly OwnEngine[], device: DeviceTelemetry | null): number {
  const open = engines.map((engine) => {
    const held = device ? heldBy(engine, device) : engine.footprint_bytes;
    return Math.max(0, engine.budget_bytes - held);
  });
  return open.reduce((sum, bytes) => sum + bytes, 0);
}

/** What of a process group the telemetry counts now; what was measured after its load where it does not. */
function heldBy(engine: OwnEngine, device: DeviceTelemetry): number {
  const rows = (device.processes ?? []).filter((process) => isOf(process, engine.pid));
  if (rows.length === 0 || rows.some((row) => row.used_bytes === null)) return engine.footprint_bytes;
  return rows.reduce((sum, row) => sum + (row.used_bytes ?? 0), 0);
}

function isOf(process: DeviceProcess, pid: number): boolean {
  return process.seen && (process.pid === pid || process.group === pid || process.ancestors.includes(pid));
}

function missingTelemetry({
  kind,
  name,
  memory,
  utilisation,
  processes,
  problems,
}: DeviceTelemetry): string | null {
  const gpu = kind !== "cpu";
  const unsaid = [
    ...(memory ? [] : ["free memory"]),
    ...(gpu && utilisation === null ? ["utilisation"] : []),
    ...(gpu && processes === null ? ["processes"] : []),
  ];
  if (unsaid.length === 0) return null;
  const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
  return clip(`${name} cannot be shown to be free: its ${unsaid.join(", ")} could not be read${why}.`);
}

function foreignUse(
  { kind, name, memory, processes }: DeviceTelemetry,
  engines: readonly OwnEngine[],
  starting: { pid: number } | null,
  observers: readonly string[],
): string | null {
  if (kind === "cpu" || !processes || !memory) return null;
  const own = [...engines.map((engine) => engine.pid), ...(starting ? [starting.pid] : [])];
  const others = processes.filter(
    (process) => !own.some((pid) => isOf(process, pid)) && !isObserver(process, observers),
  );
  const [unseen] = others.filter((process) => !process.seen);
  if (unseen) {
    return `Process ${unseen.pid ?? "of unknown number"} computes on ${name} and cannot be looked at from here: it lives in another container. Run the worker where it sees the host's processes, or end that one.`;
  }
  const [first] = others;
  if (first) {
    const more = others.length > 1 ? ` and ${others.length - 1} more` : "";
    const bytes = first.used_bytes === null ? "" : `, ${gib(first.used_bytes)}`;
    return clip(
      `Process ${first.pid} (${first.name ?? "unnamed"}${bytes})${more} computes on ${name} and is none of Helm's. End it, or name it in HELM_GPU_OBSERVERS if it only watches.`,
    );
  }
  const silent = processes.filter((process) => process.used_bytes === null);
  // Nobody knows yet what one that starts takes, and nothing is free beside it.
  if (silent.length > 0 && starting) return null;
  // Of ours that the driver counts nothing for, the most that they may hold stands, and the driver's own share for each.
  const unsaid = engines.filter(({ pid }) => silent.some((process) => isOf(process, pid)));
  const ours = unsaid.reduce((sum, engine) => sum + Math.max(engine.budget_bytes, engine.footprint_bytes), 0);
  const listed = processes.reduce((sum, { used_bytes }) => sum + (used_bytes ?? 0), ours);
  const unlisted = memory.used_bytes - listed;
  if (unlisted <= UNLISTED_BYTES * (1 + silent.length)) return null;
  return `${gib(unlisted)} of ${name} are in use by processes that its driver does not list here: they live in another container. Run the worker where it sees the host's processes, or end them.`;
}

/** The kernel keeps fifteen characters of a name. */
function isObserver({ name }: DeviceProcess, observers: readonly string[]): boolean {
  return name !== null && observers.some((observer) => name === observer || name === observer.slice(0, 15));
}

const count = (engines: number) => (engines === 1 ? "an engine" : `${engines} engines`);

function gib(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** A sentence is shown whole: a driver's own words may be long. */
function clip(sentence: string): string {
  return sentence.length <= 480 ? sentence : `${sentence.slice(0, 477)}...`;
}
