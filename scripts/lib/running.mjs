import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "./command.mjs";

const fileOf = (stateDir) => join(stateDir, "running.json");

/** What runs on this state directory: {pid, urls} of a living launcher, or null. */
export function findRunning(stateDir) {
  const file = fileOf(stateDir);
  if (!existsSync(file)) return null;
  try {
    const record = JSON.parse(readFileSync(file, "utf8"));
    return record.pid !== process.pid && record.started === startOf(record.pid) ? record : null;
  } catch {
    return null;
  }
}

export function recordRunning(stateDir, facts) {
  const record = { pid: process.pid, started: startOf(process.pid), ...facts };
  writeFileSync(fileOf(stateDir), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

export function forgetRunning(stateDir) {
  rmSync(fileOf(stateDir), { force: true });
}

/** A pid is used again after a reboot; together with its start it names one process. Null where it is gone. */
export function startOf(pid) {
  return ask("ps", ["-o", "lstart=", "-p", String(pid)]);
}
