import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { chooseThreshold, digestOfTable, fitTable } from "@helm/cascade";
import { ExitCode, JudgeLabel, type JudgeRow, JudgeTable } from "@helm/contracts";
import { locatePython } from "@helm/host";
import type { Context } from "../../context";
import { Failure, usage } from "../../failure";
import { locateCorpus, locateModel, readFacts } from "../../models";
import { requireServer } from "../../server/client";
import { pick, wholeOf } from "../given";
import { collectRows, readRows } from "./collect-rows";
import { tableLines } from "./lines";

type Raw = Record<string, string | boolean | undefined>;
const DEFAULT_WINDOW = 64;

/** Fits a table: on the server from a calibration's answers, else here from answers that are given or collected. */
export async function fitJudge(context: Context, raw: Raw): Promise<void> {
  const asked = readAsked(raw);
  if (typeof raw.calibration === "string") {
    for (const key of ["rows", "tasks", "sourceModel", "targetModel", "out", "record"])
      if (raw[key] !== undefined)
        throw usage(
          "--calibration fits on the server: it goes with --streaming, --window and --label alone.",
        );
    return fitOnServer(context, raw.calibration, asked);
  }
  const server = raw.record === true ? await requireServer(context.config) : null;
  if (typeof raw.sourceModel !== "string" || typeof raw.targetModel !== "string")
    throw usage(
      "Name what to fit on: --calibration ID, or --source-model and --target-model (with --rows FILE, --tasks FILE, or the corpus's probes).",
    );
  const [source, target] = await Promise.all([
    locateModel(raw.sourceModel, context.config),
    locateModel(raw.targetModel, context.config),
  ]);
  const { rows, origin } = await collect(context, raw, [source.folder, target.folder]);
  if (typeof raw.saveRows === "string")
    await writeFile(raw.saveRows, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const verified = rows.every(({ quality }) => quality);
  const label = asked.label ?? (verified ? "target_better" : "target_differs");
  const fitted = fitTable(rows, { streaming: asked.streaming, window: asked.window, label });
  if (!fitted.ok) throw new Failure(ExitCode.unreadable, "ANSWERS_TOO_FEW", fitted.message);
  const python = locatePython(context.config.python);
  const [own, other] = await Promise.all([readFacts(source, python), readFacts(target, python)]);
  const judged = JudgeTable.parse({
    v: 1,
    type: "judge_table",
    pair: { source: source.id, target: target.id },
    weights: { source: own.weights_sha256 ?? null, target: other.weights_sha256 ?? null },
    origin,
    fitted_at: new Date().toISOString(),
    ...fitted.table,
  });
  const sha256 = digestOfTable(judged);
  if (typeof raw.out === "string") await writeFile(raw.out, `${JSON.stringify(judged, null, 1)}\n`);
  const recorded = server ? await server.judge.import.mutate({ table: judged }) : null;
  const chosen = chooseThreshold(judged, { escalation_rate: 0.2 });
  context.screen.answer({ ...judged, sha256, ...(recorded ? { recorded: recorded.id } : {}) }, () => [
    ...tableLines(judged, sha256, chosen.ok ? chosen.threshold : null),
    "",
    ...(typeof raw.out === "string" ? [`Written: ${raw.out}.`] : []),
    ...(recorded
      ? [`Recorded as ${recorded.id}. ${nextStep(sha256)}`]
      : typeof raw.out === "string"
        ? [`Next: lifeboat helm judge import ${raw.out}.`]
        : ["Kept nowhere but here: --record stores it on the server, --out FILE in a file."]),
  ]);
}

interface Asked {
  streaming: "buffer" | "window";
  window: number | null;
  label: JudgeLabel | null;
}

function readAsked(raw: Raw): Asked {
  const streaming = pick(String(raw.streaming ?? "window"), ["buffer", "window"] as const);
  if (streaming === "buffer" && raw.window !== undefined)
    throw usage("--window goes with --streaming window: a buffered answer is judged whole.");
  const window =
    streaming === "buffer" ? null : raw.window === undefined ? DEFAULT_WINDOW : wholeOf(String(raw.window));
  if (window !== null && (window < 1 || window > 4096)) throw usage("--window is 1 to 4096 tokens.");
  return {
    streaming,
    window,
    label: raw.label === undefined ? null : pick(String(raw.label), JudgeLabel.options),
  };
}

async function fitOnServer({ config, screen }: Context, calibrationId: string, asked: Asked): Promise<void> {
  const server = await requireServer(config);
  const { streaming, window, label } = asked;
  const fitted = await server.judge.fit.mutate({
    calibrationId,
    streaming,
    window,
    label: label ?? undefined,
  });
  const { table } = await server.judge.get.query({ id: fitted.id });
  const chosen = chooseThreshold(table, { escalation_rate: 0.2 });
  screen.answer({ ...table, sha256: fitted.sha256, recorded: fitted.id }, () => [
    ...tableLines(table, fitted.sha256, chosen.ok ? chosen.threshold : null),
    "",
    nextStep(fitted.sha256),
  ]);
}

async function collect(
  context: Context,
  raw: Raw,
  [source, target]: [string, string],
): Promise<{ rows: JudgeRow[]; origin: JudgeTable["origin"] }> {
  const [file, tasks] = [raw.rows, raw.tasks];
  if (typeof file === "string") {
    if (typeof tasks === "string") throw usage("--rows and --tasks exclude each other.");
    return { rows: await readRows(file), origin: { kind: "file", name: basename(file) } };
  }
  const corpus = await locateCorpus(String(raw.corpus ?? "bundled"), context.config);
  const args = [
    ...["--source-model", source, "--target-model", target, "--device", String(raw.device ?? "auto")],
    ...(typeof tasks === "string" ? ["--tasks", tasks, "--timed"] : ["--corpus", corpus.given]),
    ...(typeof raw.limit === "string" ? ["--limit", String(wholeOf(raw.limit))] : []),
    ...(typeof raw.threads === "string" ? ["--threads", String(wholeOf(raw.threads))] : []),
  ];
  const origin =
    typeof tasks === "string"
      ? ({ kind: "tasks", name: basename(tasks) } as const)
      : ({ kind: "probes", name: `corpus ${String(raw.corpus ?? "bundled")}` } as const);
  return { rows: await collectRows(context, args), origin };
}

function nextStep(sha256: string): string {
  return `Next: lifeboat helm route set NAME --judge ${sha256.slice(0, 12)} --escalation-rate 0.2.`;
}
