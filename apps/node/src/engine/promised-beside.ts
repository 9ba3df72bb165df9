import { askGuard, type LeasePlace, type Logger, type PythonHome, readDeviceUse } from "@helm/host";
import { promisedTo } from "@helm/pairing";

/** Bytes of a device that its resident engines were promised and have not taken yet. */
export async function promisedBeside(
  python: PythonHome,
  place: LeasePlace,
  device: string,
  log: Logger,
): Promise<number> {
  const { engines } = await readDeviceUse(place);
  if (engines.length === 0) return 0;
  const pids = engines.map((engine) => engine.pid);
  const telemetry = await askGuard(python, device, pids).catch((error: unknown) => {
    log.warn(
      { err: error },
      "what the engines beside hold now is not told; what they held after their load stands",
    );
    return null;
  });
  return promisedTo(engines, telemetry);
}
