import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync } from "node:fs";

const GRACE_MS = 20_000;

/** Starts a program in a process group of its own, its output in a log file. */
export function startChild({ name, command, args, cwd, env, logFile, onEnded }) {
  if (existsSync(logFile)) renameSync(logFile, logFile.replace(/\.log$/, ".previous.log"));
  const log = openSync(logFile, "a", 0o600);
  // Its own group: Ctrl-C reaches the launcher alone, which then ends its programs in order.
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  const state = { ended: false, stopping: false, how: "" };
  const gone = new Promise((resolve) => {
    const end = (how) => {
      if (state.ended) return;
      state.ended = true;
      state.how = how;
      resolve();
      if (!state.stopping) onEnded?.(name, how);
    };
    child.once("error", (error) => end(`could not be started (${error.message})`));
    child.once("exit", (code, signal) =>
      end(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
    );
  });

  async function stop(graceMs = GRACE_MS) {
    state.stopping = true;
    if (!state.ended) {
      child.kill("SIGTERM");
      let timer;
      await Promise.race([gone, new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))]);
      clearTimeout(timer);
    }
    killGroup(child.pid);
    await gone;
  }

  return {
    name,
    pid: child.pid,
    logFile,
    state,
    gone,
    stop,
    tail: () => tailOf(logFile),
    sayTail: () => readableTail(logFile),
  };
}

// What a program left in its group after it ended, or everything where it did not end in time.
function killGroup(pid) {
  if (!pid) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left.
  }
}

export function tailOf(file, lines = 20) {
  if (!existsSync(file)) return "";
  return readFileSync(file, "utf8").trim().split("\n").slice(-lines).join("\n");
}

const LEVELS = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };

/** The end of a log as lines for people: time, level, sentence, and what went wrong. */
export function readableTail(file, lines = 20) {
  return tailOf(file, lines).split("\n").map(readable).join("\n");
}

function readable(line) {
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof entry !== "object" || entry === null || typeof entry.msg !== "string") return line;
  const time = typeof entry.time === "string" ? entry.time : new Date(entry.time ?? 0).toISOString();
  const level = (LEVELS[entry.level] ?? String(entry.level ?? "")).padEnd(5);
  const why = entry.err?.message && entry.err.message !== entry.msg ? `: ${firstLine(entry.err)}` : "";
  return `${time.slice(11, 19)} ${level} ${entry.msg}${why}${entry.err?.code ? ` (${entry.err.code})` : ""}`;
}

// Some libraries put the sentence last.
function firstLine({ message }) {
  const said = message
    .split("\n")
    .map((text) => text.trim())
    .filter(Boolean);
  return said.length > 1 && said[0].endsWith(":") ? said.at(-1) : (said[0] ?? "");
}
