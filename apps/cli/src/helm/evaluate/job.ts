import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Evaluation, EvaluationProgress, ExitCode } from "@helm/contracts";
import { type Exit, locatePython, type PythonHome, type PythonRun, runPython } from "@helm/host";
import { z } from "zod";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { ProgressView } from "../../terminal/progress";

/** Time that the job gets between SIGTERM and SIGKILL. */
const GRACE_MS = 8000;

const Line = z.discriminatedUnion("type", [
  EvaluationProgress,
  Evaluation,
  z.looseObject({ type: z.literal("log"), level: z.string(), message: z.string() }),
  z.looseObject({
    type: z.literal("failed"),
    code: z.string(),
    message: z.string(),
    exit_code: z.number().int(),
  }),
]);

interface Collected {
  evaluation: Evaluation | null;
  failed: { code: string; message: string; exit_code: number } | null;
  log: string[];
}

/** The environment that holds the harness. Errors: Failure 5 with the command that makes it. */
export function locateHarness(python: string | undefined): PythonHome {
  const { source } = locatePython(python);
  const folder = join(dirname(source), ".venv-evaluate");
  if (!existsSync(join(folder, ".helm-installed"))) {
    throw new Failure(
      ExitCode.unreadable,
      "EVALUATE_NOT_INSTALLED",
      "lm-evaluation-harness is not installed. Run lifeboat helm evaluate --install, which adds about 230 MB.",
    );
  }
  return { python: join(folder, "bin", "python"), source };
}

/** Makes or renews that environment. Errors: Failure 5 where packages cannot be had. */
export async function installHarness(context: Context): Promise<void> {
  await runJob(context, locatePython(context.config.python), ["evaluate", "--install"]);
}

/** Runs `python -m lifeboat_kv evaluate`. Errors: Failure with the job's own code and sentence. */
export async function runEvaluation(
  context: Context,
  python: PythonHome,
  args: string[],
  environment: Record<string, string>,
): Promise<Evaluation> {
  const { evaluation, log } = await runJob(context, python, ["evaluate", ...args], environment);
  if (evaluation) return evaluation;
  throw died({ code: 0, signal: null }, log);
}

async function runJob(
  context: Context,
  python: PythonHome,
  args: string[],
  environment: Record<string, string> = {},
): Promise<Collected> {
  const collected: Collected = { evaluation: null, failed: null, log: [] };
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
      onEvent: (line: unknown) => take(line, collected, context, view),
      onNoise: (line: string) => collected.log.push(line),
      onLog: (line: string) => collected.log.push(line),
    };
    run = await runPython(python, args, handlers, environment);
    if (interrupted) stop();
    exit = await run.done;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    view.stop();
  }
  if (interrupted || exit.code === ExitCode.interrupted) {
    throw new Failure(ExitCode.interrupted, "INTERRUPTED", "Interrupted. Nothing was stored.");
  }
  const { failed } = collected;
  if (failed) throw new Failure(failed.exit_code, failed.code, sentence(failed.message));
  if (exit.code !== 0) throw died(exit, collected.log);
  return collected;
}

function take(line: unknown, collected: Collected, context: Context, view: ProgressView): void {
  const parsed = Line.safeParse(line);
  if (!parsed.success) {
    collected.log.push(`an event breaks the schema: ${JSON.stringify(line).slice(0, 300)}`);
    return;
  }
  const event = parsed.data;
  switch (event.type) {
    case "progress":
      context.screen.emit(event);
      view.update(event);
      return;
    case "log":
      context.screen.emit(event);
      if (!context.screen.json) view.say(event.message);
      return;
    case "evaluation":
      collected.evaluation = event;
      return;
    case "failed":
      collected.failed = event;
      return;
  }
}

function died(exit: Exit, log: string[]): Failure {
  const last = log.at(-1);
  if (exit.signal === "SIGKILL") {
    const message =
      "The system killed the job, most likely for want of memory. Free memory, or use smaller models.";
    return new Failure(ExitCode.resources, "MEMORY_SHORT", message);
  }
  const why = last ? ` Its last line: ${last}` : "";
  const ended = exit.signal ?? `code ${exit.code}`;
  return new Failure(
    ExitCode.machineryFailed,
    "JOB_DIED",
    `The job ended with ${ended} before it gave a result.${why}`,
  );
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
