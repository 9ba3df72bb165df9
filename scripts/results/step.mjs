// One measured program: its events, its time, its processor time and its largest resident memory.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { KV, STATE, VENV_PYTHON } from "../lib/paths.mjs";
import { Sorry } from "../lib/sorry.mjs";

const FOLDER = join(STATE, "results", "bundled");
// The machine's own rate right before every step: others may be using it as well.
const MACHINE =
  "import json; from dataclasses import asdict; from lifeboat_kv.host.machine import this_machine; " +
  "print(json.dumps(asdict(this_machine())))";
const POLL_MS = 250;
const TICKS_A_SECOND = 100;

export const artifacts = join(FOLDER, "mappers");

/** What a step left: {name, args, date, seconds, processor_seconds, peak_mib, machine, events}; null before it ran. */
export function recorded(name) {
  const file = join(FOLDER, `${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

/** Runs `python -m lifeboat_kv args` to its end and keeps what it said. Errors: Sorry where it fails. */
export async function runStep(name, args) {
  mkdirSync(artifacts, { recursive: true });
  const env = { ...process.env, PYTHONPATH: join(KV, "src"), OMP_WAIT_POLICY: "PASSIVE" };
  const measured = spawnSync(VENV_PYTHON, ["-c", MACHINE], { env, encoding: "utf8" });
  if (measured.status !== 0) throw new Sorry(`The machine could not be measured: ${measured.stderr}`);
  const began = Date.now();
  const command = ["-m", "lifeboat_kv", ...args];
  const child = spawn(VENV_PYTHON, command, { env, stdio: ["ignore", "pipe", "inherit"] });
  const use = { peak_mib: 0, processor_seconds: 0 };
  const poll = setInterval(() => look(child.pid, use), POLL_MS);
  const ended = new Promise((resolve) => child.once("close", resolve));
  const events = [];
  for await (const line of createInterface({ input: child.stdout })) events.push(JSON.parse(line));
  const code = await ended;
  clearInterval(poll);
  const failed = events.find((event) => event.type === "failed");
  if (code !== 0) throw new Sorry(`${name} ended with exit code ${code}: ${failed?.message ?? "see above"}`);
  const found = {
    name,
    args,
    date: new Date(began).toISOString(),
    seconds: (Date.now() - began) / 1000,
    ...use,
    machine: JSON.parse(measured.stdout),
    events,
  };
  const file = join(FOLDER, `${name}.json`);
  writeFileSync(`${file}.part`, JSON.stringify(found));
  renameSync(`${file}.part`, file);
  return found;
}

/** The kernel's own highest mark, read while the program lives; the last look is at most a quarter second old. */
function look(pid, use) {
  try {
    const mark = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    if (mark) use.peak_mib = Math.max(use.peak_mib, Number(mark[1]) / 1024);
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    use.processor_seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  } catch {
    // It has ended, or this system has no /proc: then the page says that nothing was measured.
  }
}
