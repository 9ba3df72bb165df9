import { askGuard, type Logger, type PythonHome } from "@helm/host";

/** What a GPU's driver counts for a process group, contexts included; null where it does not say. */
export async function processBytes(
  python: PythonHome,
  device: string,
  leader: number,
  log: Logger,
): Promise<number | null> {
  try {
    const { processes } = await askGuard(python, device);
    const own = (processes ?? []).filter((one) => one.pid === leader || one.group === leader);
    if (own.length === 0 || own.some((one) => one.used_bytes === null)) return null;
    return own.reduce((sum, one) => sum + (one.used_bytes ?? 0), 0);
  } catch (error) {
    log.warn({ err: error }, "the driver does not say what the engine holds; its own count stands");
    return null;
  }
}
