import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Exit, type GroupedChild, spawnGroup } from "./process-group";

/** Where the Python library and its interpreter are. */
export interface PythonHome {
  python: string;
  source: string;
}

export interface PythonHandlers {
  /** Each JSON line of stdout, parsed but not yet checked. */
  onEvent(event: unknown): void;
  /** A line of stdout that is not JSON. */
  onNoise(line: string): void;
  /** A line of stderr. */
  onLog(line: string): void;
}

export interface PythonRun {
  pid: number;
  /** Resolves once the process has ended and every line was handed on. */
  done: Promise<Exit>;
  end(graceMs: number): Promise<Exit>;
}

/** The nearest folder above `start` that holds packages/kv: the checkout, from sources and from a bundle alike. */
export function findCheckout(start: string = fileURLToPath(import.meta.url)): string | null {
  for (let folder = dirname(start); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "packages", "kv", "src", "lifeboat_kv"))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Errors: one sentence with the next step where the interpreter or the library is missing. */
export function locatePython(python?: string | undefined): PythonHome {
  const checkout = findCheckout();
  if (!checkout) throw new Error("The Python library (packages/kv) was not found above this program.");
  const interpreter = python ?? join(checkout, "packages", "kv", ".venv", "bin", "python");
  if (!existsSync(interpreter)) {
    throw new Error(
      `There is no Python at ${interpreter}. Run npm start once, which makes it, or set HELM_PYTHON.`,
    );
  }
  return { python: interpreter, source: join(checkout, "packages", "kv", "src") };
}

const PASSED_ON =
  /^(PATH|HOME|LANG|LC_.*|TMPDIR|USER|LD_LIBRARY_PATH|(OMP|MKL)_NUM_THREADS|CUDA_.*|HIP_.*|ROCR_.*|XDG_CACHE_HOME)$/;

/**
 * What a Python job sees of our environment: no secret of ours, and no hub to download from. Python may keep what it
 * compiles: torch and transformers are installed uncompiled, and without that every start compiles them anew.
 */
export function pythonEnvironment(
  home: PythonHome,
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const passed = Object.entries(environment).filter(([name]) => PASSED_ON.test(name));
  return {
    ...Object.fromEntries(passed),
    PYTHONPATH: home.source,
    PYTHONUNBUFFERED: "1",
    HF_HUB_OFFLINE: "1",
    TRANSFORMERS_OFFLINE: "1",
    TOKENIZERS_PARALLELISM: "false",
    // Bars of libraries are noise in a log; the job's own progress goes by events.
    TQDM_DISABLE: "1",
  };
}

/**
 * Starts `python -m lifeboat_kv ...` in a process group of its own, with `extra` in its environment.
 * Errors: what spawning ran into.
 */
export async function runPython(
  home: PythonHome,
  args: string[],
  handlers: PythonHandlers,
  extra: Record<string, string> = {},
): Promise<PythonRun> {
  const child = await spawnGroup(home.python, ["-m", "lifeboat_kv", ...args], {
    // A job must not go on for nobody where this process is killed.
    env: { ...pythonEnvironment(home), LIFEBOAT_PARENT_PID: String(process.pid), ...extra },
  });
  const lines = [
    eachLine(child.stdout, (line) => handleLine(line, handlers)),
    eachLine(child.stderr, handlers.onLog),
  ];
  const done = Promise.all([child.exit, ...lines]).then(([exit]) => exit);
  return { pid: child.pid, done, end: (graceMs) => child.end(graceMs).then(() => done) };
}

function handleLine(line: string, handlers: PythonHandlers): void {
  if (line.trim() === "") return;
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    handlers.onNoise(line);
    return;
  }
  handlers.onEvent(event);
}

async function eachLine(stream: GroupedChild["stdout"], handle: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
    handle(line);
}
