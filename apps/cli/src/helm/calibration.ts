import type { Context } from "../context";
import { requireServer } from "../server/client";
import { table } from "../terminal/style";
import { followCalibration, reportedOf } from "./calibrate/follow";
import { reportLines } from "./calibrate/report";
import { comparisonLines } from "./comparison";

export async function listCalibrations(
  { config, screen }: Context,
  options: { limit: number },
): Promise<void> {
  const { rows } = await (await requireServer(config)).calibration.list.query({ limit: options.limit });
  screen.answer({ type: "calibrations", calibrations: rows }, () => {
    if (rows.length === 0) return ["No calibration yet. Start one with lifeboat helm calibrate."];
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
    const head = `${run.pairName}  ${run.state}  ${run.state === "RUNNING" ? `${run.stage ?? "starting"} ${Math.floor(run.percent)} %  ` : ""}method ${run.method}, k ${run.k}, device ${run.device}, corpus ${run.corpus}`;
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

export async function compareCalibrations(
  { config, screen }: Context,
  first: string,
  second: string,
): Promise<void> {
  const server = await requireServer(config);
  const comparison = await server.calibration.compare.query({ first, second });
  screen.answer({ type: "comparison", first, second, ...comparison }, () => comparisonLines(comparison));
}

export async function cancelCalibration({ config, screen }: Context, id: string): Promise<void> {
  const { state } = await (await requireServer(config)).calibration.cancel.mutate({ id });
  screen.answer({ type: "cancelled", id, state }, () => [
    state === "RUNNING" ? "Asked the worker to end it." : `The run is ${state}.`,
  ]);
}
