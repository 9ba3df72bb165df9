import { CalibrationEvent, ExitCode, mendText } from "@helm/contracts";
import {
  type Exit,
  type Logger,
  type PythonHandlers,
  type PythonHome,
  type PythonRun,
  runPython,
} from "@helm/host";

type Result = Extract<CalibrationEvent, { type: "result" }>;

export type JobEnd =
  | { kind: "fitted"; result: Result }
  | { kind: "failed"; code: string; message: string; exitCode: number }
  | { kind: "interrupted" };

/** One running `lifeboat_kv calibrate`: its events are handed on as they come, `end` says how it went. */
export interface PythonJob {
  pid: number;
  end: Promise<JobEnd>;
  stop(graceMs: number): Promise<void>;
}

/** Errors: what spawning ran into. */
export async function startPythonJob(
  home: PythonHome,
  args: string[],
  log: Logger,
  onEvent: (event: CalibrationEvent) => void,
  extra: Record<string, string> = {},
): Promise<PythonJob> {
  let result: Result | null = null;
  let failed: Extract<CalibrationEvent, { type: "failed" }> | null = null;
  let broken: string | null = null;
  let stopped = false;
  const handlers: PythonHandlers = {
    onEvent: (line) => {
      const parsed = CalibrationEvent.safeParse(mendLog(line));
      if (!parsed.success) {
        log.warn(
          { line: JSON.stringify(line).slice(0, 300), issue: parsed.error.issues[0] },
          "an event breaks the schema",
        );
        broken ??= breach(line, parsed.error.issues[0]);
        return;
      }
      if (parsed.data.type === "result") result = parsed.data;
      if (parsed.data.type === "failed") failed = parsed.data;
      onEvent(parsed.data);
    },
    onNoise: (line) => log.warn({ line: line.slice(0, 300) }, "a line of the job is no event"),
    onLog: (line) => log.info({ line: line.slice(0, 1000) }, "job"),
  };
  const run: PythonRun = await runPython(home, args, handlers, extra);
  return {
    pid: run.pid,
    end: run.done.then((exit) => judgeEnd(exit, { result, failed, broken }, stopped)),
    stop: async (graceMs) => {
      stopped = true;
      await run.end(graceMs);
    },
  };
}

/** A log line is for people: what cannot be stored in it is replaced, and no reason to lose a run. */
function mendLog(line: unknown): unknown {
  const { type, message } = (line ?? {}) as { type?: unknown; message?: unknown };
  return type === "log" && typeof message === "string"
    ? { ...(line as object), message: mendText(shorten(message)) }
    : line;
}

const LONGEST_LOG = 16_384;

function shorten(message: string): string {
  if (message.length <= LONGEST_LOG) return message;
  return `${message.slice(0, LONGEST_LOG)} ... (${message.length - LONGEST_LOG} characters more)`;
}

/** Where the lost event is one that the verdict is made of. */
function breach(line: unknown, issue: { path: PropertyKey[]; message: string } | undefined): string | null {
  const type = String((line as { type?: unknown } | null)?.type);
  if (!["started", "counts", "result"].includes(type)) return null;
  return `${type}: ${issue?.path.map(String).join(".")} ${issue?.message}`.slice(0, 300);
}

interface Said {
  result: Result | null;
  failed: Extract<CalibrationEvent, { type: "failed" }> | null;
  /** What was wrong with the first decisive event that could not be read. */
  broken: string | null;
}

function judgeEnd(exit: Exit, { result, failed, broken }: Said, stopped: boolean): JobEnd {
  if (stopped || exit.code === ExitCode.interrupted) return { kind: "interrupted" };
  if (failed)
    return { kind: "failed", code: failed.code, message: failed.message, exitCode: failed.exit_code };
  if (exit.code === 0 && broken !== null) {
    const message = `The job printed an event that cannot be read, so that its result is not whole: ${broken}.`;
    return { kind: "failed", code: "EVENT_UNREADABLE", message, exitCode: ExitCode.machineryFailed };
  }
  if (exit.code === 0 && result) return { kind: "fitted", result };
  if (exit.signal === "SIGKILL") {
    const message =
      "The system killed the job, most likely for want of memory. Free memory, or use fewer sequences.";
    return { kind: "failed", code: "MEMORY_SHORT", message, exitCode: ExitCode.resources };
  }
  if (exit.code === 0) {
    const message = "The job ended without a result that could be read; the worker's log has its lines.";
    return { kind: "failed", code: "RESULT_MISSING", message, exitCode: ExitCode.machineryFailed };
  }
  const message = `The job ended with ${exit.signal ?? `code ${exit.code}`} and no word of its own; the worker's log has its last lines.`;
  return { kind: "failed", code: "JOB_DIED", message, exitCode: ExitCode.machineryFailed };
}
