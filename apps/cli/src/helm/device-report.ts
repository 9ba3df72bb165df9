import { DeviceGuard, type DeviceUse, leaseNameOf, type PythonHome, readDeviceUse } from "@helm/host";
import type { Device, DeviceWord } from "@helm/pairing";
import type { Context } from "../context";
import { formatBytes, printable } from "../terminal/style";

/** One device as its lease file and its guard tell it. */
export interface DeviceReport extends DeviceWord {
  device: string;
  exclusive: DeviceUse["exclusive"];
  starting: DeviceUse["starting"];
  engines: DeviceUse["engines"];
}

/** Who uses a device of this host and whether a calibration could start there; `gpu` null: the CPU. */
export async function reportDevice(
  { config }: Context,
  python: PythonHome,
  gpu: (Device & { uuid?: string | null | undefined }) | null,
): Promise<DeviceReport> {
  const leaseName = gpu ? leaseNameOf(gpu) : "cpu";
  const device = gpu ? (gpu.uuid ?? (gpu.vendor === "amd" ? "rocm" : "cuda")) : "cpu";
  const { leaseDir, budget } = config;
  const use = await readDeviceUse({ directory: leaseDir, device: leaseName });
  const word = await new DeviceGuard({ python, leaseDir, leaseName, device, budget }).look();
  return { device: leaseName, ...use, ...word };
}

export function deviceLines(report: DeviceReport): string[] {
  const { device, exclusive, starting, engines, rooms, sentence, free_bytes, needed_bytes } = report;
  const held = (who: { pid: number; purpose: string; since: string }) =>
    `process ${who.pid} (${printable(who.purpose)}) since ${who.since}`;
  const free = free_bytes === null ? "an unknown amount" : formatBytes(free_bytes);
  return [
    `  lease ${device}: ${exclusive ? `held by ${held(exclusive)}` : "no job holds it"}`,
    ...(starting ? [`    an engine starts: ${held(starting)}`] : []),
    ...engines.map(
      (engine) =>
        `    ${printable(engine.purpose)}, process ${engine.pid}: ${formatBytes(engine.footprint_bytes)} after its load, ${formatBytes(engine.budget_bytes)} at most`,
    ),
    `  guard: ${free} free, ${formatBytes(needed_bytes)} needed; ${
      rooms.length === 2
        ? "a calibration may start"
        : rooms.length === 1
          ? "a calibration may start once the nodes of this machine are drained"
          : "no calibration may start"
    }`,
    ...(sentence === null ? [] : [`    ${printable(sentence)}`]),
  ];
}
