import { readdirSync, readFileSync } from "node:fs";

/** {pid, parent, group, started, command} of every process that this user may see. Linux. */
export function allProcesses() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, "utf8");
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
        if (fields[0] === "Z") return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const [, parent, group] = fields.map(Number);
        return [{ pid: Number(name), parent, group, started: fields[19], command }];
      } catch {
        return [];
      }
    });
}

/** A process and everything below it. */
export function treeOf(pid) {
  const all = allProcesses();
  const found = all.filter((one) => one.pid === pid);
  for (let i = 0; i < found.length; i++) found.push(...all.filter((one) => one.parent === found[i].pid));
  return found;
}

/** Those of `known` that still live, by pid and start: a pid may have been given to another. */
export function stillAlive(known) {
  const now = new Map(allProcesses().map((one) => [one.pid, one]));
  return known.filter((one) => now.get(one.pid)?.started === one.started);
}

/** Everything that names this folder: what a product on it has started, wherever it hangs by now. */
export function naming(folder) {
  return allProcesses().filter((one) => one.command.includes(folder));
}

export function kill9(processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  }
}
