type Device = "auto" | "cuda" | "rocm" | "cpu";

/** "auto" never means the CPU. */
export function offersDevice(worker: { device: Device }, device: Device): boolean {
  return device === "auto" ? worker.device !== "cpu" : worker.device === device;
}
