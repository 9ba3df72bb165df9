import { setTimeout as pause } from "node:timers/promises";
import { CalibrationState, Verdict } from "@helm/contracts";
import type { Context } from "../context";
import { usage } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";
import { followCalibration, reportedOf } from "./calibrate/follow";
import { noteDrain } from "./calibrate/note-drain";
import type { CalibrateOptions } from "./calibrate/options";
import { reportLines } from "./calibrate/report";
import { comparisonLines } from "./comparison";
import { findPair, findPairNamed } from "./retention/find";

const POLL_MS = 1_000;
const ROOM_WORDS = { beside: "beside the engines", drain: "after a drain" };

type Raw = Record<string, string | boolean | undefined>;

export async function listCalibrations({ config, screen }: Context, raw: Raw): Promise<void> {
  const server = await requireServer(config);
  const text = (name: string) => (typeof raw[name] === "string" ? raw[name] : undefined);
  const pair = await findPairNamed(server, text("pair"));
  const { rows } = await server.calibration.list.query({
    limit: limitOf(text("limit")),
    pairId: pair?.id,
    states: text("state")?.split(",").map(stateOf),
    verdict: text("verdict") === undefined ? undefined : verdictOf(text("verdict") ?? ""),
    startedBy: text("by"),
    since: timeOf("--since", text("since")),
    until: timeOf("--until", text("until")),
  });
  screen.answer({ type: "calibrations", calibrations: rows }, () => {
    if (rows.length === 0)
      return [
        Object.keys(raw).some((name) => !["limit", "json"].includes(name))
          ? "No calibration is of this kind."
          : "No calibration yet. Start one with lifeboat helm calibrate.",
      ];
    const cells = rows.map((run) => [
      run.id,
      run.pairName,
      run.state,
      run.verdict ?? "-",
      run.score ? run.score.retention.value.toFixed(3) : "-",
      `${Math.floor(run.percent)} %`,
      run.createdAt.toISOString().slice(0, 16).replace("T", " "),
      run.error?.code ?? run.waitingReason ?? "",
    ]);
    return table(["id", "pair", "state", "verdict", "retention", "done", "created (UTC)", ""], cells, [4, 5]);
  });
}

export async function showCalibration(context: Context, id: string, wait: boolean): Promise<number> {
  const server = await requireServer(context.config);
  if (wait) return followCalibration(context, server, id);
  const run = await server.calibration.get.query({ id });
  context.screen.answer({ type: "calibration", calibration: run }, () => {
    const head = `${run.pairName}  ${run.state}  ${run.state === "RUNNING" ? `${run.stage ?? "starting"} ${Math.floor(run.percent)} %  ` : ""}method ${run.method}, k ${run.k}, device ${run.device}, corpus ${run.corpus}, ${ROOM_WORDS[run.room]}`;
    const why = run.error
      ? [`${run.error.code}: ${run.error.message}`]
      : run.waitingReason
        ? [run.waitingReason]
        : [];
    if (!run.assessment || !run.scores) return [head, ...why];
    const { assessment, scores } = run;
    const artifact = run.mapperSha256 ? { sha256: run.mapperSha256 } : null;
    return [head, ...why, ...reportLines(context.screen, reportedOf(run, assessment, scores, artifact))];
  });
  return 0;
}

/** Each with the first. */
export async function compareCalibrations({ config, screen }: Context, ids: string[]): Promise<void> {
  const server = await requireServer(config);
  const [first = "", ...others] = ids;
  for (const second of others) {
    const comparison = await server.calibration.compare.query({ first, second });
    screen.answer({ type: "comparison", first, second, ...comparison }, () => [
      ...(others.length > 1 ? ["", `${second}, with ${first} as the first:`] : []),
      ...comparisonLines(comparison),
    ]);
  }
}

/** Starts it on the server; with `--wait` follows it to its end and gives its exit code. */
export async function startCalibration(context: Context, options: CalibrateOptions): Promise<number> {
  const server = await requireServer(context.config);
  const pair = await findPair(server, options.sourceModel, options.targetModel);
  await noteDrain(context, server, options, pair.id);
  const { corpus, k, device, method, room, acceptNoServing } = options;
  const asked = { corpus, k, device, method, room, acceptNoServing, options: options.options };
  const started = { pairId: pair.id, ...asked };
  const { id } = await server.calibration.start.mutate(started);
  return queued(context, server, id, options.wait);
}

export async function retryCalibration(context: Context, id: string, wait: boolean): Promise<number> {
  const server = await requireServer(context.config);
  await server.calibration.retry.mutate({ id });
  return queued(context, server, id, wait);
}

function queued(context: Context, server: Server, id: string, wait: boolean): Promise<number> | number {
  if (wait) {
    context.screen.note(`run ${id}`);
    return followCalibration(context, server, id);
  }
  context.screen.answer({ type: "queued", id }, () => [
    `Queued as ${id}. Follow it with lifeboat helm calibration show ${id} --wait.`,
  ]);
  return 0;
}

export async function cancelCalibration(
  { config, screen }: Context,
  id: string,
  wait: boolean,
): Promise<void> {
  const server = await requireServer(config);
  let { state } = await server.calibration.cancel.mutate({ id });
  while (wait && (state === "RUNNING" || state === "QUEUED")) {
    await pause(POLL_MS);
    ({ state } = await server.calibration.get.query({ id }));
  }
  screen.answer({ type: "cancelled", id, state }, () => [
    state === "RUNNING"
      ? "Asked the worker to end it; what does not stop is killed. Wait for it with --wait."
      : `The run is ${state}.`,
  ]);
}

function stateOf(given: string) {
  const state = CalibrationState.safeParse(given.trim().toUpperCase());
  if (state.success) return state.data;
  throw usage(`--state ${given} is none of ${CalibrationState.options.join(", ")}.`);
}

function verdictOf(given: string) {
  const verdict = Verdict.safeParse(given.trim().toUpperCase());
  if (verdict.success) return verdict.data;
  throw usage(`--verdict ${given} is none of ${Verdict.options.join(", ")}.`);
}

function limitOf(given: string | undefined): number {
  const limit = Number(given ?? "25");
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw usage(`--limit ${given} is no whole number from 1 to 100.`);
}

function timeOf(name: string, given: string | undefined): Date | undefined {
  if (given === undefined) return undefined;
  const time = new Date(given);
  if (!Number.isNaN(time.getTime())) return time;
  throw usage(`${name} ${given} is no time. Write it as 2026-11-30 or 2026-11-30T12:00Z.`);
}
