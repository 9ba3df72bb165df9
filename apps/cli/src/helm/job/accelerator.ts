import { type DeviceFacts, ExitCode } from "@helm/contracts";
import { askDoctor, type PythonHome } from "@helm/host";
import { hardwareVerdict, hostVerdict } from "@helm/pairing";
import { Failure } from "../../failure";

/** The GPU that a run with `--device auto|cuda|rocm` would use. Errors: Failure 4, naming what is there. */
export async function chooseAccelerator(
  python: PythonHome,
  wanted: "auto" | "cuda" | "rocm",
): Promise<DeviceFacts> {
  const host = await askDoctor(python);
  const devices = host.devices.filter((device) => device.vendor !== "none");
  const { verdict, sentence } = hostVerdict(devices);
  if (verdict === "none") {
    const message = `${sentence} With --device cpu the run is for development, and marked so everywhere.`;
    throw new Failure(ExitCode.noAccelerator, "NO_ACCELERATOR", message);
  }
  const vendor = { auto: null, cuda: "nvidia", rocm: "amd" }[wanted];
  const chosen = devices.find(
    (device) =>
      hardwareVerdict(device).verdict === "allowed" && (vendor === null || device.vendor === vendor),
  );
  if (chosen && host.torch_problem) {
    throw new Failure(ExitCode.noAccelerator, "TORCH_WITHOUT_GPU", `${host.torch_problem}.`);
  }
  if (chosen) return chosen;
  const message =
    verdict === "allowed"
      ? `--device ${wanted} names no GPU of this host. ${sentence}`
      : `${sentence} Use another host.`;
  throw new Failure(ExitCode.noAccelerator, "HW_REFUSED", message);
}
