import { readdirSync, readFileSync } from "node:fs";

const TICKS = 100;

/** CPU seconds that a process has taken, null where the system does not say. */
export function cpuSeconds(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return null;
  }
}

/** Resident bytes of a process, null where the system does not say. */
export function residentBytes(pid) {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib ? 1024 * Number(kib) : null;
  } catch {
    return null;
  }
}

/** Resident bytes of a process, and its share of them: a page that several have counts in parts. Null where nobody says. */
export function memoryOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const field = (name) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)[1]);
    return { rss: field("Rss"), pss: field("Pss"), own: field("Pss_Anon"), files: field("Pss_File") };
  } catch {
    return null;
  }
}

/** The child of a process whose command line holds these words. */
export function childOf(pid, words) {
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean);
    for (const child of children) {
      if (readFileSync(`/proc/${child}/cmdline`, "utf8").includes(words)) return Number(child);
    }
  }
  return null;
}
