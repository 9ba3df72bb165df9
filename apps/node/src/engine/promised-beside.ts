import { askGuard, type LeasePlace, type Logger, ownUsers, type PythonHome, readDeviceUse } from "@helm/host";
import { promisedTo } from "@helm/pairing";

/** Bytes of a device that its resident engines and its job were promised and have not taken yet. */
export async function promisedBeside(
  python: PythonHome,
  place: LeasePlace,
  device: string,
  log: Logger,
): Promise<number> {
  const beside = ownUsers(await readDeviceUse(place));
  if (beside.length === 0) return 0;
  const pids = beside.map(({ pid }) => pid);
  const telemetry = await askGuard(python, device, pids).catch((error: unknown) => {
    log.warn(
      { err: error },
      "what runs beside does not tell what it holds now; what engines held after their load stands",
    );
    return null;
  });
  return promisedTo(beside, telemetry);
}
