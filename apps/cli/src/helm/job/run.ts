import { ExitCode } from "@helm/contracts";
import { type Exit, type PythonHome, type PythonRun, runPython } from "@helm/host";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { ProgressView } from "../../terminal/progress";

/** Time that a job gets between SIGTERM and SIGKILL. */
const GRACE_MS = 8000;

export interface Job {
  args: string[];
  environment?: Record<string, string>;
  /** Takes one event line, whatever it holds; what it cannot use it adds to `log`. */
  take: (line: unknown, view: ProgressView, log: string[]) => void;
  /** What is said of an interrupted job: what is left of it, and what is not. */
  interrupted: string;
}

/**
 * Runs a Python job in the foreground, its progress on the screen, ended with it by Ctrl-C and by SIGTERM. `log` is
 * what it said besides its events. Errors: Failure 130 where it was interrupted.
 */
export async function runJob(
  context: Context,
  python: PythonHome,
  job: Job,
): Promise<{ exit: Exit; log: string[] }> {
  const log: string[] = [];
  const view = new ProgressView(context.screen);
  let interrupted = false;
  let run: PythonRun | null = null;
  const stop = () => {
    interrupted = true;
    void run?.end(GRACE_MS);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  let exit: Exit;
  try {
    const handlers = {
      onEvent: (line: unknown) => job.take(line, view, log),
      onNoise: (line: string) => log.push(line),
      onLog: (line: string) => log.push(line),
    };
    run = await runPython(python, job.args, handlers, job.environment);
    if (interrupted) stop();
    exit = await run.done;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    view.stop();
  }
  if (interrupted || exit.code === ExitCode.interrupted) {
    throw new Failure(ExitCode.interrupted, "INTERRUPTED", `Interrupted. ${job.interrupted}`);
  }
  return { exit, log };
}

/** Why a job that gave no result ended, as far as its end and its last words tell. */
export function died(exit: Exit, log: string[]): Failure {
  // The C++ library ends a process that it cannot get memory for.
  if (exit.signal === "SIGABRT" && log.some((line) => /bad_alloc/.test(line))) {
    return new Failure(ExitCode.resources, "MEMORY_SHORT", "This host's memory did not suffice. Free some.");
  }
  if (exit.signal === "SIGKILL") {
    return new Failure(
      ExitCode.resources,
      "MEMORY_SHORT",
      "The system killed the job, most likely for want of memory. Free memory, or use fewer sequences or smaller models.",
    );
  }
  const last = log.at(-1);
  const why = last ? ` Its last line: ${last}` : "";
  return new Failure(
    ExitCode.machineryFailed,
    "JOB_DIED",
    `The job ended with ${exit.signal ?? `code ${exit.code}`} before it gave a result.${why}`,
  );
}

/** An event that is not what its schema says is kept among the job's words, where its end may need it. */
export function noteUnreadable(line: unknown, log: string[]): void {
  log.push(`an event breaks the schema: ${JSON.stringify(line).slice(0, 300)}`);
}

/** A job's own reason as a sentence. A name at its beginning (a file's, a tensor's) stays as it is written. */
export function sentence(text: string): string {
  const first = /^[a-z]+[ ,']/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
