import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Evaluation, EvaluationProgress, ExitCode } from "@helm/contracts";
import { locatePython, type PythonHome } from "@helm/host";
import { z } from "zod";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import type { ProgressView } from "../../terminal/progress";
import { died, noteUnreadable, runJob, sentence } from "../job/run";

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
  await runVerb(context, locatePython(context.config.python), ["evaluate", "--install"]);
}

/** Runs `python -m lifeboat_kv evaluate`. Errors: Failure with the job's own code and sentence. */
export async function runEvaluation(
  context: Context,
  python: PythonHome,
  args: string[],
  environment: Record<string, string>,
): Promise<Evaluation> {
  const { evaluation, log } = await runVerb(context, python, ["evaluate", ...args], environment);
  if (evaluation) return evaluation;
  throw died({ code: 0, signal: null }, log);
}

async function runVerb(
  context: Context,
  python: PythonHome,
  args: string[],
  environment: Record<string, string> = {},
): Promise<Collected & { log: string[] }> {
  const collected: Collected = { evaluation: null, failed: null };
  const { exit, log } = await runJob(context, python, {
    args,
    environment,
    take: (line, view, words) => take(line, collected, context, view, words),
    interrupted: "Nothing was stored.",
  });
  const { failed } = collected;
  if (failed) throw new Failure(failed.exit_code, failed.code, sentence(failed.message));
  if (exit.code !== 0) throw died(exit, log);
  return { ...collected, log };
}

function take(
  line: unknown,
  collected: Collected,
  context: Context,
  view: ProgressView,
  log: string[],
): void {
  const parsed = Line.safeParse(line);
  if (!parsed.success) {
    noteUnreadable(line, log);
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
