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

  return { name, pid: child.pid, logFile, state, gone, stop, tail: () => tailOf(logFile) };
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
