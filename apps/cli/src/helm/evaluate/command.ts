import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ExitCode } from "@helm/contracts";
import { hubEnvironment, locatePython } from "@helm/host";
import { checkPair } from "@helm/pairing";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { locateModel, readFacts } from "../../models";
import { requireServer } from "../../server/client";
import { impossible } from "../check";
import { takeDevice } from "../job/device";
import { installHarness, locateHarness, runEvaluation } from "./job";
import { type RawOptions, readOptions } from "./options";
import { evaluationLines } from "./report";

/** Tasks of lm-evaluation-harness on this host: pilot, target, and the target on transferred caches. */
export async function evaluate(context: Context, raw: RawOptions): Promise<void> {
  if (raw.install === true) return installHarness(context);
  const { config, screen } = context;
  const options = readOptions(raw);
  const harness = locateHarness(config.python);
  // Before the minutes that the run takes: a result that cannot be stored is not worth them.
  const server = options.record ? await requireServer(config) : null;
  const python = locatePython(config.python);
  const mapper = await locateMapper(options.mapper, config.artifactDir);
  const [source, target] = await Promise.all([
    locateModel(options.sourceModel, config),
    locateModel(options.targetModel, config),
  ]);
  const [from, to] = await Promise.all([readFacts(source, python), readFacts(target, python)]);
  const check = checkPair(from, to, { requireTokenizer: true });
  if (!check.ok) throw impossible({ source: source.id, target: target.id }, check);
  const args = ["--source-model", source.folder, "--target-model", target.folder, "--mapper", mapper];
  args.push("--tasks", options.tasks.join(","), "--device", options.device, ...options.passed);
  if (options.data !== undefined) args.push("--data", resolve(options.data));
  const environment = config.hub ? hubEnvironment(config.hub) : {};
  const release = await takeDevice(context, python, options.device, "lifeboat helm evaluate");
  try {
    const measured = await runEvaluation(context, harness, args, environment);
    const evaluation = { ...measured, pair: { source: source.id, target: target.id } };
    const recorded = server ? await server.evaluation.record.mutate(evaluation) : null;
    screen.answer(evaluation, () => [
      ...evaluationLines(screen, evaluation),
      ...(recorded
        ? [`  Recorded as ${recorded.id}; the pair's page shows it as accuracy retention.`, ""]
        : []),
    ]);
  } finally {
    await release();
  }
}

/** A mapper by its digest under the folder of artifacts, or by path. Errors: Failure 5. */
async function locateMapper(given: string, artifacts: string): Promise<string> {
  const places = /^[0-9a-f]{64}$/.test(given) ? [join(artifacts, given), resolve(given)] : [resolve(given)];
  for (const place of places) {
    const found = await stat(place).catch(() => null);
    if (found) return place;
  }
  throw new Failure(
    ExitCode.unreadable,
    "MAPPER_NOT_FOUND",
    `There is no mapper "${given}". Name its folder or file, or the digest of one under ${artifacts}.`,
  );
}
