import { CalibrationEvent, type FinishRequest, HelmError } from "@helm/contracts";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { fitFirstTables } from "../judge/fit-first";
import { refreshPairStatus } from "../pair/refresh-status";
import { unparkNodes } from "../park/park-nodes";
import { holdLease } from "./lease";
import { type CalibrationMove, nextState } from "./states";
import { storeVerdict } from "./store-verdict";
import { verifyRun } from "./verify-run";

export interface FinishInput extends FinishRequest {
  id: string;
}

type Held = Pick<Awaited<ReturnType<typeof holdLease>>, "calibration" | "attempt" | "now">;

/** The end of an attempt as its worker reports it. The verdict is ours: it is computed here, from the stored counts. */
export async function finishCalibration({ ctx, input }: Call<FinishInput>): Promise<{ state: string }> {
  const held = await holdLease(ctx, input.id, input.attempt);
  switch (input.outcome) {
    case "fitted":
      return finishFitted(ctx, held, input);
    case "cancelled":
      return closeRun(ctx, held, "cancel", null);
    case "failed":
      return closeRun(ctx, held, "fail", {
        code: input.code ?? "MACHINERY_FAILED",
        message: input.message ?? "The job failed and gave no reason.",
        exitCode: input.exit_code ?? null,
      });
    case "inspected":
      throw new HelmError("BAD_REQUEST", "A calibration does not end as an inspection.");
  }
}

async function finishFitted(ctx: Context, held: Held, input: FinishInput): Promise<{ state: string }> {
  const { calibration, attempt } = held;
  const row = await ctx.db.calibrationEvent.findFirst({
    where: { attemptId: attempt.id, type: "result" },
    orderBy: { seq: "desc" },
  });
  if (!row)
    throw new HelmError("BAD_REQUEST", "The result event has not arrived: deliver the events first.", {
      lastSeq: attempt.lastSeq,
    });
  const result = CalibrationEvent.parse({
    v: 1,
    at: row.at.toISOString(),
    type: "result",
    ...(row.body as object),
  });
  if (result.type !== "result") throw new HelmError("BAD_REQUEST", "The result event cannot be read.");
  if (result.artifact.sha256 !== input.artifact_sha256) {
    throw new HelmError("ARTIFACT_MISMATCH", "The result event names another artifact.", {
      named: result.artifact.sha256,
    });
  }
  const artifact = await ctx.db.artifact.findUnique({ where: { sha256: result.artifact.sha256 } });
  if (!artifact)
    throw new HelmError("ARTIFACT_MISMATCH", "The artifact has not arrived: upload it first.", {
      sha256: result.artifact.sha256,
    });
  const verified = await verifyRun(ctx, { calibration, attempt, result });
  if ("code" in verified) return closeRun(ctx, held, "fail", { ...verified, exitCode: 1 });
  const judged = { ...calibration, developmentOnly: verified.development };
  await ctx.db.calibration.update({
    where: { id: calibration.id },
    data: { developmentOnly: verified.development },
  });
  const failure = await storeVerdict(ctx, { calibration: judged, attemptId: attempt.id, result });
  return closeRun(ctx, held, failure ? "fail" : "succeed", failure ? { ...failure, exitCode: 1 } : null);
}

interface Failure {
  code: string;
  message: string;
  exitCode: number | null;
}

/** Any end of a held run: its state, its audit row, and the nodes that were parked for it. */
export async function closeRun(
  ctx: Context,
  held: Held,
  move: CalibrationMove,
  failure: Failure | null,
): Promise<{ state: string }> {
  const { calibration, attempt, now } = held;
  const state = nextState(calibration.state, move);
  const error = { errorCode: failure?.code ?? null, errorMessage: failure?.message ?? null };
  await ctx.db.calibrationAttempt.update({
    where: { id: attempt.id },
    data: { state, finishedAt: now, drainUntil: null, ...error },
  });
  await unparkNodes(ctx, calibration);
  const after = await ctx.db.calibration.update({
    where: { id: calibration.id },
    data: {
      state,
      finishedAt: now,
      lastUpdateAt: now,
      rate: null,
      exitCode: failure?.exitCode ?? null,
      ...error,
    },
  });
  // After the state: the pair's status looks at runs that SUCCEEDED.
  if (state === "SUCCEEDED") await refreshPairStatus(ctx, calibration.pairId);
  if (state === "SUCCEEDED") await fitFirstTables(ctx, calibration);
  await writeAudit(ctx, {
    verb: "calibration.finish",
    entity: "calibration",
    entityId: calibration.id,
    before: { state: calibration.state },
    after: { state, verdict: after.verdict, error: failure?.code ?? null },
  });
  ctx.afterCommit(() =>
    ctx.services.hub.updateCalibration({
      calibration: after.id,
      attempt: attempt.number,
      last_seq: attempt.lastSeq,
      after_seq: attempt.lastSeq,
      state: after.state,
      stage: after.stage,
      percent: after.percent,
      rate: null,
      unit: after.unit,
      lines: [],
    }),
  );
  return { state };
}
