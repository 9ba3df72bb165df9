import {
  type Assessment,
  CalibrationEvent,
  CalibrationResult,
  type CalibrationScores,
  ExitCode,
} from "@helm/contracts";
import type { AppRouter } from "@helm/control-plane/router";
import type { inferRouterOutputs } from "@trpc/server";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { isAbsence, type Server } from "../../server/client";
import { ProgressView } from "../../terminal/progress";
import { type Mapper, mapperPages } from "../mapper-pages";
import { type Reported, reportLines } from "./report";
import { exitCodeOf, toResult } from "./result";

type Calibration = inferRouterOutputs<AppRouter>["calibration"]["get"];

const POLL_MS = 700;
/** How long a server may be away while its run is followed. */
const PATIENCE_MS = 60_000;

/** Follows a run on the server to its end and reports it like a local one. Returns the exit code. */
export async function followCalibration(context: Context, server: Server, id: string): Promise<number> {
  const { screen } = context;
  const view = new ProgressView(screen);
  let stopped = false;
  const stop = () => {
    stopped = true;
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const cursor = { attempt: 0, seq: 0 };
    let waiting = "";
    let heard = Date.now();
    for (;;) {
      if (stopped) {
        throw new Failure(
          ExitCode.interrupted,
          "INTERRUPTED",
          `No longer following; the run goes on. Look at it with lifeboat helm calibration show ${id}, end it with cancel.`,
        );
      }
      try {
        const run = await server.calibration.get.query({ id });
        await passEvents(context, server, id, cursor);
        heard = Date.now();
        if (isOver(run)) {
          view.stop();
          return conclude(context, server, run);
        }
        const news = run.waitingReason !== null && run.waitingReason !== waiting;
        if (run.state === "RUNNING" && !run.waitingReason)
          view.update({
            stage: run.stage ?? "starting",
            percent: run.percent,
            rate: run.rate,
            unit: run.unit,
          });
        else if (news) view.say(`${run.state}: ${run.waitingReason}`);
        waiting = run.waitingReason ?? "";
      } catch (error) {
        if (!isAbsence(error) || Date.now() - heard > PATIENCE_MS) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    view.stop();
  }
}

/** With `--json` the run's own event lines, as a local run prints them. */
async function passEvents(
  context: Context,
  server: Server,
  id: string,
  cursor: { attempt: number; seq: number },
): Promise<void> {
  if (!context.screen.json) return;
  for (;;) {
    const page = await server.calibration.events.query({ id, afterSeq: cursor.seq, limit: 500 });
    if (page.attempt !== cursor.attempt && cursor.attempt !== 0) {
      Object.assign(cursor, { attempt: page.attempt, seq: 0 });
      continue;
    }
    cursor.attempt = page.attempt;
    for (const { seq, type, at, body } of page.events) {
      cursor.seq = seq;
      // The server keeps counts apart from its events; what is no whole event is no line of ours.
      const event = CalibrationEvent.safeParse({ v: 1, ...body, type, at: at.toISOString() });
      const isLast = type === "result" || type === "failed";
      if (event.success && !isLast) context.screen.emit(event.data);
    }
    if (page.events.length < 500) return;
  }
}

function isOver(run: Calibration): boolean {
  return run.state !== "QUEUED" && run.state !== "RUNNING";
}

async function conclude(context: Context, server: Server, run: Calibration): Promise<number> {
  switch (run.state) {
    case "CANCELLED":
      throw new Failure(ExitCode.interrupted, "CANCELLED", "The run was cancelled.");
    case "LOST":
      throw new Failure(1, "LOST", "The run was lost: its worker went away. Look at the worker, then retry.");
    case "FAILED":
      if (!run.assessment) throw failed(run);
  }
  const { assessment, scores } = run;
  if (!assessment || !scores) throw failed(run);
  const mapper = run.mapperId ? await mapperOf(server, run.pairId, run.mapperId) : undefined;
  const artifact = mapper ? { sha256: mapper.sha256, path: null, bytes: mapper.bytes } : null;
  const reported = reportedOf(run, assessment, scores, artifact);
  const names = { source: run.sourceModel, target: run.targetModel };
  const result = CalibrationResult.parse(toResult(names, reported, artifact));
  context.screen.answer(result, () => reportLines(context.screen, reported));
  return exitCodeOf(assessment);
}

async function mapperOf(server: Server, pairId: string, mapperId: string): Promise<Mapper | undefined> {
  for await (const rows of mapperPages(server, pairId)) {
    const found = rows.find(({ id }) => id === mapperId);
    if (found) return found;
  }
  return undefined;
}

/** A run on the server as the report takes it. */
export function reportedOf(
  run: Calibration,
  assessment: Assessment,
  scores: CalibrationScores,
  artifact: Reported["artifact"],
): Reported {
  const { method, k, device, corpus, fit } = run;
  return {
    pair: `${run.sourceModel} -> ${run.targetModel}`,
    made: { method, k, device, corpus },
    assessment,
    scores,
    cost: run.cost ?? [],
    fit,
    artifact,
    development: run.developmentOnly,
  };
}

function failed(run: Calibration): Failure {
  const { error } = run;
  const byCode = error?.code.startsWith("PROBES_") ? ExitCode.unreadable : 1;
  return new Failure(
    error?.exitCode || byCode,
    error?.code ?? run.state,
    error?.message ?? `The run ended ${run.state} without a reason.`,
  );
}
