import type { DeviceFacts, HardwareVerdict } from "@helm/contracts";
import { leaseNameOf } from "@helm/host";
import { hardwareVerdict, hostVerdict } from "@helm/pairing";
import type { WorkerConfig } from "./config";

export interface Hardware {
  verdict: HardwareVerdict;
  sentence: string;
  devices: DeviceFacts[];
  /** The one kind of device this worker offers. */
  device: "cuda" | "rocm" | "cpu";
  /** Name of the device lease: the GPU's UUID, or `cpu` for the host. */
  leaseName: string;
  /** As the library's guard names it: a GPU's UUID, or its kind where it has none; `cpu` for the host. */
  guardName: string;
}

/** A host that can calibrate nothing, in one sentence with the next step. */
export class HardwareRefused extends Error {
  override name = "HardwareRefused";
}

/**
 * What this worker offers. A CPU is offered only where it was asked for by name and the host has no accelerator.
 * Errors: HardwareRefused.
 */
export function chooseHardware(devices: DeviceFacts[], wanted: WorkerConfig["device"]): Hardware {
  const { verdict, sentence } = hostVerdict(devices);
  if (verdict === "refused")
    throw new HardwareRefused(`${sentence} This worker would calibrate nothing here.`);
  if (verdict === "none") {
    if (wanted !== "cpu") {
      throw new HardwareRefused(
        `${sentence} Start the worker with HELM_DEVICE=cpu to calibrate in development mode.`,
      );
    }
    return { verdict, sentence, devices, device: "cpu", leaseName: "cpu", guardName: "cpu" };
  }
  if (wanted === "cpu") {
    throw new HardwareRefused(
      `${sentence} HELM_DEVICE=cpu is for hosts without an accelerator; leave it out here.`,
    );
  }
  const vendor = { cuda: "nvidia", rocm: "amd", auto: null }[wanted];
  const chosen = devices.find(
    (d) => hardwareVerdict(d).verdict === "allowed" && (vendor === null || d.vendor === vendor),
  );
  if (!chosen)
    throw new HardwareRefused(`HELM_DEVICE=${wanted} names no allowed GPU of this host. ${sentence}`);
  const device = chosen.vendor === "amd" ? "rocm" : "cuda";
  return {
    verdict,
    sentence,
    devices,
    device,
    leaseName: leaseNameOf(chosen),
    guardName: chosen.uuid ?? device,
  };
}
