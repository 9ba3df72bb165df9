import { rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type Assessment,
  CalibrationEvent,
  ExitCode,
  HelmError,
  LayerFit,
  type ModelFacts,
  optionFlags,
} from "@helm/contracts";
import { hubEnvironment, locatePython } from "@helm/host";
import {
  type AssessmentInput,
  assess,
  type CountsByArm,
  checkPair,
  longLeftOut,
  thresholdsOf,
} from "@helm/pairing";
import type { Context } from "../../context";
import { Failure, usage } from "../../failure";
import { type LocatedModel, locateCorpus, locateModel, readFacts } from "../../models";
import type { ProgressView } from "../../terminal/progress";
import { impossible } from "../check";
import { takeDevice } from "../job/device";
import { died, noteUnreadable, runJob, sentence } from "../job/run";
import { type CalibrateOptions, gateOf } from "./options";
import { reportLines } from "./report";
import { exitCodeOf, toResult } from "./result";

type EventOf<T extends CalibrationEvent["type"]> = Extract<CalibrationEvent, { type: T }>;

interface Collected {
  started: EventOf<"started"> | null;
  counts: CountsByArm;
  fit: LayerFit[];
  result: EventOf<"result"> | null;
  failed: EventOf<"failed"> | null;
}

/** Calibrates on this host: the same job and the same verdict as through a server. Returns the exit code. */
export async function calibrateLocally(context: Context, options: CalibrateOptions): Promise<number> {
  const { config } = context;
  if (options.room === "drain")
    throw usage(
      "--drain holds for a run on a server, which knows the nodes. Leave it out, or sign in with lifeboat login.",
    );
  const python = locatePython(config.python);
  const [source, target] = await Promise.all([
    locateModel(options.sourceModel, config),
    locateModel(options.targetModel, config),
  ]);
  const [from, to] = await Promise.all([readFacts(source, python), readFacts(target, python)]);
  const check = checkPair(from, to, { requireTokenizer: true });
  if (!check.ok) throw impossible({ source: source.id, target: target.id }, check);
  requireLayers(options.k, from);
  const corpus = await locateCorpus(options.corpus, config);
  const extra = corpus.hub ? hubEnvironment(corpus.hub) : {};
  const release = await takeDevice(context, python, options.device, "lifeboat helm calibrate");
  try {
    const collected: Collected = { started: null, counts: {}, fit: [], result: null, failed: null };
    const { exit, log } = await runJob(context, python, {
      args: jobArguments(context, options, source, target, corpus.given),
      environment: extra,
      take: (line, view, words) => take(line, collected, context, view, words),
      interrupted: "Nothing half-written was left; start it again when you like.",
    });
    if (!collected.failed && !(exit.code === 0 && collected.result)) throw died(exit, log);
    return await conclude(context, options, { source, target, control: check.control }, collected);
  } finally {
    await release();
  }
}

function requireLayers(k: number, source: ModelFacts): void {
  const layers = source.num_hidden_layers;
  if (typeof layers === "number" && k > layers) {
    throw usage(`--k ${k} is more than the ${layers} layers of ${source.id}. Give at most ${layers}.`);
  }
}

function jobArguments(
  context: Context,
  options: CalibrateOptions,
  source: LocatedModel,
  target: LocatedModel,
  corpus: string,
): string[] {
  const args = [
    "calibrate",
    "--source-model",
    source.folder,
    "--target-model",
    target.folder,
    "--corpus",
    corpus,
    "--corpus-store",
    context.config.corpusStore,
  ];
  args.push("--k", String(options.k), "--device", options.device);
  args.push("--out", resolve(options.out ?? context.config.artifactDir));
  args.push(...optionFlags(options.options));
  if (options.threads !== undefined) args.push("--threads", String(options.threads));
  return options.method === "default" ? args : [...args, "--method", options.method];
}

function take(
  line: unknown,
  collected: Collected,
  context: Context,
  view: ProgressView,
  log: string[],
): void {
  const parsed = CalibrationEvent.safeParse(line);
  if (!parsed.success) {
    noteUnreadable(line, log);
    return;
  }
  const event = parsed.data;
  // The job's own last event is no answer yet: the verdict is made from it and printed in its place.
  if (event.type !== "result" && event.type !== "failed") context.screen.emit(event);
  switch (event.type) {
    case "started":
      collected.started = event;
      if (!context.screen.json) view.say(startLine(event));
      return;
    case "stage":
      view.update({ stage: event.stage, percent: view.percent, rate: null, unit: null });
      return;
    case "progress":
      view.update(event);
      return;
    case "counts":
      collected.counts[event.arm] = [...(collected.counts[event.arm] ?? []), ...event.sequences];
      return;
    case "log":
      if (event.level === "warning" || event.level === "error") view.say(`${event.level}: ${event.message}`);
      return;
    case "result":
      collected.result = event;
      return;
    case "failed":
      collected.failed = event;
      return;
    case "metric": {
      const fit = event.name === "layer_fit" ? LayerFit.safeParse(event).data : undefined;
      if (fit) collected.fit.push(fit);
      return;
    }
  }
}

function startLine({ method, k, device, corpus }: EventOf<"started">): string {
  const mode = device === "cpu" ? ", development mode" : "";
  return `method ${method}, k ${k}, device ${device}${mode}, corpus ${corpus.name}`;
}

async function conclude(
  context: Context,
  options: CalibrateOptions,
  pair: { source: LocatedModel; target: LocatedModel; control: boolean },
  collected: Collected,
): Promise<number> {
  const { started, result, failed, counts, fit } = collected;
  if (failed || !started || !result) {
    throw new Failure(
      failed?.exit_code ?? 1,
      failed?.code ?? "RESULT_MISSING",
      sentence(failed?.message ?? "The job gave no result."),
    );
  }
  const cpu = started.device === "cpu";
  const discard = () => rm(dirname(result.artifact.path), { recursive: true, force: true });
  const assessment = judge({
    counts,
    gate: gateOf(options),
    gateOn: "lower",
    control: pair.control,
    method: started.method,
    dtype: cpu ? "float32" : "bfloat16",
    kvCosine: result.scores.kv_cosine,
    thresholds: thresholdsOf(result.manifest),
    longLeftOut: longLeftOut(result.manifest),
  });
  if (assessment instanceof Failure || assessment.failure) await discard();
  if (assessment instanceof Failure) throw assessment;
  const artifact = assessment.failure ? null : result.artifact;
  const names = { source: pair.source.id, target: pair.target.id };
  const { scores, cost } = result;
  const { method, k, device, corpus } = started;
  const reported = {
    pair: `${names.source} -> ${names.target}`,
    made: { method, k, device, corpus: corpus.name },
    assessment,
    scores,
    cost,
    fit,
    artifact,
    development: cpu,
  };
  context.screen.answer(toResult(names, reported, artifact), () => reportLines(context.screen, reported));
  return exitCodeOf(assessment);
}

/** Counts that allow no verdict are the machinery's failure; no mapper is kept of such a run. */
function judge(input: AssessmentInput): Assessment | Failure {
  try {
    return assess(input);
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    return new Failure(ExitCode.machineryFailed, error.code, error.userMessage, [], error.details);
  }
}
