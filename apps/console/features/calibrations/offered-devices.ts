export type Device = "auto" | "cuda" | "rocm" | "cpu";

/** `auto` never means the CPU; a worker in development mode offers the CPU alone, and it is named openly. */
export function devicesOf(workers: { device: Device; development: boolean }[]): Device[] {
  const accelerated = workers.filter((worker) => !worker.development);
  const named = accelerated
    .map((worker) => worker.device)
    .filter((device) => device !== "cpu" && device !== "auto");
  const devices: Device[] = accelerated.length > 0 ? ["auto", ...named] : [];
  if (workers.some((worker) => worker.development)) devices.push("cpu");
  return devices.length > 0 ? [...new Set(devices)] : ["auto", "cpu"];
}
