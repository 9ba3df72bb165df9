import { ExitCode } from "@helm/contracts";
import { acquireDeviceLease, leaseNameOf, type PythonHome } from "@helm/host";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { chooseAccelerator } from "./accelerator";

const LEASE_PATIENCE_MS = 8000;

/** Two jobs on one device would measure each other. Errors: Failure 4 without an allowed device, 6 if taken. */
export async function takeDevice(
  context: Context,
  python: PythonHome,
  device: "auto" | "cuda" | "rocm" | "cpu",
  purpose: string,
): Promise<() => Promise<void>> {
  const name = device === "cpu" ? "cpu" : leaseNameOf(await chooseAccelerator(python, device));
  const directory = context.config.leaseDir;
  // A worker holds the lease for a moment whenever it asks for a job.
  for (
    const deadline = Date.now() + LEASE_PATIENCE_MS;
    ;
    await new Promise((again) => setTimeout(again, 200))
  ) {
    const taken = await acquireDeviceLease({ directory, device: name, purpose });
    if (taken.ok) return () => taken.lease.release();
    if (Date.now() < deadline) continue;
    const { pid, purpose: other, since } = taken.holder;
    throw new Failure(
      ExitCode.resources,
      "DEVICE_TAKEN",
      `The device is taken by process ${pid} (${other}) since ${since}. Wait for it, or cancel it.`,
    );
  }
}
