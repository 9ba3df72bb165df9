import { execFile, spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { INSTALL_LOGS, ROOT } from "./paths.mjs";
import { Sorry } from "./sorry.mjs";

const active = new Set();

/** Ends what `run` has started and not finished. */
export function endActive() {
  for (const child of active) child.kill("SIGTERM");
}

/** Runs a program to its end with its output in a log file; a failure shows the log's tail. */
export function run(command, args, { log, cwd = ROOT, env = {}, hint = "" }) {
  mkdirSync(INSTALL_LOGS, { recursive: true });
  const file = join(INSTALL_LOGS, `${log}.log`);
  const sink = createWriteStream(file);
  let output = "";
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    active.add(child);
    const collect = (chunk) => {
      sink.write(chunk);
      output += chunk;
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.once("error", (error) => reject(new Sorry(`${command} could not be run: ${error.message}`)));
    child.once("close", (code, signal) => {
      sink.end();
      active.delete(child);
      if (code === 0) return resolve();
      const lines = shorten(output.trim().split("\n"));
      reject(
        new Sorry(
          `"${[command, ...args].join(" ")}" ended with ${signal ?? code}.\n${lines}\n${hint}The whole output is in ${file}.`,
        ),
      );
    });
  });
}

// npm says what is wrong in its first lines, pip and compilers in their last.
function shorten(lines) {
  if (lines.length <= 26) return lines.join("\n");
  return [...lines.slice(0, 8), "…", ...lines.slice(-16)].join("\n");
}

/** The output of a short command, or null where it fails or is missing. */
export function ask(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: 60_000, ...options });
  return result.status === 0 ? result.stdout.trim() : null;
}

/** The same without waiting for it here. */
export function askLater(command, args, options = {}) {
  return new Promise((resolve) => {
    execFile(command, args, { encoding: "utf8", ...options }, (error, stdout) =>
      resolve(error ? null : stdout.trim()),
    );
  });
}
