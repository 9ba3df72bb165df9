import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** When process `pid` started, in the system's own words; null where it does not run. Tells a reused pid apart. */
export function processStart(pid: number): string | null {
  if (process.platform === "linux") {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The command, in brackets, may hold spaces; fields are counted after it. State Z is a process already dead.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" ? null : (fields[19] ?? null);
    } catch {
      return null;
    }
  }
  try {
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return text || null;
  } catch {
    return null;
  }
}
