import { ExitCode } from "@helm/contracts";
import { acquireDeviceLease, DeviceGuard, leaseNameOf, type PythonHome } from "@helm/host";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { chooseAccelerator } from "./accelerator";

const LEASE_PATIENCE_MS = 8000;

/**
 * Two jobs on one device would measure each other, and a GPU must be shown to be free; a CPU's memory is looked at by the job
 * itself, which knows its pair. Errors: Failure 4 without an allowed device, 6 if it is taken or not free.
 */
export async function takeDevice(
  context: Context,
  python: PythonHome,
  device: "auto" | "cuda" | "rocm" | "cpu",
  purpose: string,
): Promise<() => Promise<void>> {
  const gpu = device === "cpu" ? null : await chooseAccelerator(python, device);
  const release = await takeLease(context, gpu ? leaseNameOf(gpu) : "cpu", purpose);
  if (gpu === null) return release;
  const { leaseDir, budget } = context.config;
  const named = gpu.uuid ?? (gpu.vendor === "amd" ? "rocm" : "cuda");
  const guard = new DeviceGuard({ python, leaseDir, leaseName: leaseNameOf(gpu), device: named, budget });
  const { rooms, sentence } = await guard.look();
  if (rooms.includes("beside")) return release;
  await release();
  throw new Failure(ExitCode.resources, "DEVICE_NOT_FREE", sentence ?? "The device is not free.");
}

async function takeLease(context: Context, name: string, purpose: string): Promise<() => Promise<void>> {
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
