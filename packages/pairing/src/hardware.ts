import type { DeviceFacts, HardwareVerdict } from "@helm/contracts";

export interface HardwareCheck {
  verdict: HardwareVerdict;
  sentence: string;
}

/** What the gate reads of a device; a vendor we do not know is refused by name. */
export interface Device {
  vendor: DeviceFacts["vendor"] | (string & {});
  name: string;
  capability: string | null;
  problem?: string | null | undefined;
}

const AMD_CDNA = ["gfx908", "gfx90a", "gfx942", "gfx950"];
const NVIDIA_LEAST = 8;
/** No compute capability comes near this; 90 is a chip number (sm_90), not a version. */
const NVIDIA_MOST = 40;

/** NVIDIA from compute capability 8.0, AMD CDNA from gfx908; whatever cannot be read is refused. */
export function hardwareVerdict(device: Device): HardwareCheck {
  const { vendor, name, capability } = device;
  if (vendor === "none") return { verdict: "none", sentence: "This host has no accelerator." };
  const unread = (what: string) =>
    refused(`${name}: its ${what} could not be read${device.problem ? ` (${device.problem})` : ""}`);
  if (vendor === "nvidia") {
    const version = capability === null ? null : /^(\d{1,2})(?:\.\d{1,2})?$/.exec(capability.trim());
    const major = Number(version?.[1]);
    if (!version || major < 1 || major >= NVIDIA_MOST) return unread("compute capability");
    if (major < NVIDIA_LEAST)
      return refused(`${name} has compute capability ${capability}; Helm needs 8.0 or higher`);
    return allowed(`${name} has compute capability ${capability}`);
  }
  if (vendor === "amd") {
    const target = capability?.trim().toLowerCase().split(":")[0] ?? "";
    if (!/^gfx[0-9a-f]+$/.test(target)) return unread("architecture (gfx number)");
    if (!AMD_CDNA.includes(target))
      return refused(`${name} is ${target}; Helm needs AMD Instinct (${AMD_CDNA.join(", ")})`);
    return allowed(`${name} is ${target}`);
  }
  return refused(`${name} is neither NVIDIA nor AMD`);
}

/** A host is allowed by its best device, refused where it has only others, none where it has none. */
export function hostVerdict(devices: Device[]): HardwareCheck {
  const checks = devices.map(hardwareVerdict);
  const order: HardwareVerdict[] = ["allowed", "refused"];
  for (const verdict of order) {
    const found = checks.filter((check) => check.verdict === verdict);
    if (found[0]) return { verdict, sentence: [...new Set(found.map((check) => check.sentence))].join(" ") };
  }
  return { verdict: "none", sentence: "This host has no accelerator." };
}

function allowed(fact: string): HardwareCheck {
  return { verdict: "allowed", sentence: `Allowed: ${fact}.` };
}

function refused(fact: string): HardwareCheck {
  return { verdict: "refused", sentence: `Refused: ${fact}.` };
}
