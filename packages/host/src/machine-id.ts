import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Which machine this host is on, as a digest: equal for all of its programs. On Linux it is the kernel's boot, which
 * containers of one machine share and copies of one disk image do not. `given` is for where that is wrong.
 */
export function machineId(given?: string): string {
  const seed = given ? `given:${given}` : ownSeed();
  return createHash("sha256").update(`helm machine:${seed}`).digest("hex").slice(0, 32);
}

function ownSeed(): string {
  try {
    if (process.platform === "linux")
      return `boot:${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
    if (process.platform === "darwin") {
      const told = execFileSync("ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"], { encoding: "utf8" });
      const uuid = /"IOPlatformUUID" = "([^"]+)"/.exec(told)?.[1];
      if (uuid) return `platform:${uuid}`;
    }
  } catch {
    // The name is what is left.
  }
  return `name:${hostname()}`;
}
