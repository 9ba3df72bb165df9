import { CalibrationEvent } from "@helm/contracts";
import type { Context } from "../context";

type Started = Extract<CalibrationEvent, { type: "started" }>;
type Result = Extract<CalibrationEvent, { type: "result" }>;

interface Fitted {
  calibration: { pairId: string; method: string; k: number; device: string; developmentOnly: boolean };
  attempt: { id: string; workerId: string; artifactSha256: string | null };
  result: Result;
}

export interface RunRefusal {
  code: "START_MISSING" | "RUN_MISMATCH" | "ARTIFACT_FOREIGN";
  message: string;
}

/**
 * Holds what a worker says it ran against what we asked of it. `development` is what all of it together allows: one
 * side that says CPU is enough, since a score of a CPU must never pass for an accelerator's.
 */
export async function verifyRun(
  ctx: Context,
  { calibration, attempt, result }: Fitted,
): Promise<{ development: boolean } | RunRefusal> {
  const starts = await startedEvents(ctx, attempt.id);
  if (starts.length === 0) {
    const message = "The job never said what it ran: nothing is concluded from its counts. Calibrate again.";
    return { code: "START_MISSING", message };
  }
  const wrong = await firstDifference(ctx, calibration, starts);
  if (wrong) {
    const message = `The job ran something else than was asked: ${wrong}. Nothing is concluded from it.`;
    return { code: "RUN_MISMATCH", message };
  }
  if (
    attempt.artifactSha256 !== result.artifact.sha256 ||
    (await isOfOtherWeights(ctx, calibration, result))
  ) {
    const message = "The mapper that the job names was not brought by this run. Calibrate again.";
    return { code: "ARTIFACT_FOREIGN", message };
  }
  const host = await ctx.db.host.findUniqueOrThrow({ where: { id: attempt.workerId } });
  const development =
    calibration.developmentOnly ||
    calibration.device === "cpu" ||
    host.device === "cpu" ||
    host.hardware !== "allowed" ||
    starts.some(({ device }) => device === "cpu");
  return { development };
}

async function startedEvents(ctx: Context, attemptId: string): Promise<Started[]> {
  const rows = await ctx.db.calibrationEvent.findMany({ where: { attemptId, type: "started" } });
  return rows.map(({ at, body }) => {
    const event = CalibrationEvent.parse({
      v: 1,
      at: at.toISOString(),
      type: "started",
      ...(body as object),
    });
    return event as Started;
  });
}

async function firstDifference(
  ctx: Context,
  calibration: Fitted["calibration"],
  starts: Started[],
): Promise<string | null> {
  const { source, target } = await ctx.db.pair.findUniqueOrThrow({
    where: { id: calibration.pairId },
    include: { source: true, target: true },
  });
  for (const { pair, method, k } of starts) {
    // "default" left the choice to the job; appending its start wrote the choice down.
    if (method !== calibration.method) return `method ${method}, not ${calibration.method}`;
    if (k !== calibration.k) return `k ${k}, not ${calibration.k}`;
    for (const [model, facts] of [
      [source, pair.source],
      [target, pair.target],
    ] as const) {
      if ((facts.weights_sha256 ?? null) !== model.weightsSha256)
        return `the weights of ${model.name} are not those that the pair was registered with`;
      if ((facts.tokenizer ?? null) !== model.tokenizerSha256)
        return `the tokenizer of ${model.name} is not the one that the pair was registered with`;
    }
  }
  return null;
}

/** One worker may hold the mappers of several pairs; a mapper belongs to the weights that it was fitted for. */
async function isOfOtherWeights(
  ctx: Context,
  { pairId }: { pairId: string },
  { artifact }: Result,
): Promise<boolean> {
  const models = { source: true, target: true } as const;
  const own = await ctx.db.pair.findUniqueOrThrow({ where: { id: pairId }, include: models });
  const others = await ctx.db.mapper.findMany({
    where: { sha256: artifact.sha256, pairId: { not: pairId } },
    include: { pair: { include: models } },
    omit: { manifest: true },
  });
  return others.some(
    ({ pair }) =>
      pair.source.weightsSha256 !== own.source.weightsSha256 ||
      pair.target.weightsSha256 !== own.target.weightsSha256,
  );
}
