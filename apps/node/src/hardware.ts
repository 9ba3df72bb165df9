import type { DeviceFacts, HardwareVerdict } from "@helm/contracts";
import { leaseNameOf } from "@helm/host";
import { hardwareVerdict, hostVerdict } from "@helm/pairing";
import type { NodeConfig } from "./environment";

export interface NodeHardware {
  verdict: HardwareVerdict;
  sentence: string;
  devices: DeviceFacts[];
  /** What the engine runs on. */
  device: "cuda" | "rocm" | "cpu";
  /** Name of the device lease: the GPU's UUID, or `cpu` for the host. */
  leaseName: string;
  /** As the library's guard names it: a GPU's UUID, or its kind where it has none; `cpu` for the host. */
  guardName: string;
  /** No accelerator and started for the CPU: Helm works here in development mode, and says so. */
  development: boolean;
}

/** A node that cannot run as it was told to, in one sentence with the next step. */
export class HardwareRefused extends Error {
  override name = "HardwareRefused";
}

/**
 * A host whose GPU the gate refuses still serves explicit models; Helm is then off with HW_REFUSED. The CPU is never
 * chosen silently. Errors: HardwareRefused.
 */
export function chooseHardware(found: DeviceFacts[], wanted: NodeConfig["device"]): NodeHardware {
  const devices = found.filter((device) => device.vendor !== "none");
  const { verdict, sentence } = hostVerdict(devices);
  if (verdict === "none") {
    if (wanted === "cpu")
      return {
        verdict,
        sentence,
        devices,
        device: "cpu",
        leaseName: "cpu",
        guardName: "cpu",
        development: true,
      };
    throw new HardwareRefused(
      `${sentence} Start the node with HELM_DEVICE=cpu to serve in development mode.`,
    );
  }
  if (wanted === "cpu") {
    throw new HardwareRefused(
      `${sentence} HELM_DEVICE=cpu is for hosts without an accelerator; leave it out here.`,
    );
  }
  const vendor = { cuda: "nvidia", rocm: "amd", auto: null }[wanted];
  const fitting = devices.filter((device) => vendor === null || device.vendor === vendor);
  const best = fitting.find((device) => hardwareVerdict(device).verdict === "allowed") ?? fitting[0];
  if (!best) throw new HardwareRefused(`HELM_DEVICE=${wanted} names no GPU of this host. ${sentence}`);
  const device = best.vendor === "amd" ? "rocm" : "cuda";
  return {
    verdict: hardwareVerdict(best).verdict,
    sentence,
    devices,
    device,
    leaseName: leaseNameOf(best),
    guardName: best.uuid ?? device,
    development: false,
  };
}
