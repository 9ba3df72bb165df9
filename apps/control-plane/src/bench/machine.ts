import { cpus, freemem, loadavg, totalmem } from "node:os";

export interface Machine {
  at: string;
  cores: number;
  model: string;
  memoryGiB: number;
  freeGiB: number;
  /** Processes that wanted a core, over the last minute. */
  load: number;
}

export function machineNow(): Machine {
  return {
    at: new Date().toISOString(),
    cores: cpus().length,
    model: cpus()[0]?.model ?? "unknown",
    memoryGiB: totalmem() / 1024 ** 3,
    freeGiB: freemem() / 1024 ** 3,
    load: loadavg()[0] ?? 0,
  };
}
