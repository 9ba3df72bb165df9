import { join } from "node:path";
import type { ClaimedJob, FinishRequest } from "@helm/contracts";
import { inspectModel, PythonFailure } from "@helm/host";
import { deliver } from "./deliver";
import { createRecord, saveRecord } from "./job-record";
import { NotAllowed, resolveModel } from "./roots";
import type { RunContext } from "./run-calibration";

type InspectionJob = Extract<ClaimedJob, { kind: "inspection" }>;

/** Reads a model's facts from its files and sends them under the id that was asked for. */
export async function runInspection(job: InspectionJob, context: RunContext): Promise<void> {
  const record = await createRecord(join(context.config.stateDir, "outbox"), job.id, job.attempt);
  record.finish = await inspect(job, context);
  await saveRecord(record);
  await deliver(record, context);
}

async function inspect(job: InspectionJob, context: RunContext): Promise<FinishRequest> {
  const { attempt } = job;
  try {
    const folder = await resolveModel(job.model, context.config.modelRoots);
    const facts = await inspectModel(context.python, folder);
    return { attempt, outcome: "inspected", facts: { ...facts, id: job.model } };
  } catch (error) {
    context.log.warn({ err: error, model: job.model }, "a model could not be inspected");
    const code =
      error instanceof PythonFailure
        ? error.code
        : error instanceof NotAllowed
          ? "NOT_ALLOWED"
          : "INSPECTION_FAILED";
    return { attempt, outcome: "failed", code, message: (error as Error).message, exit_code: 5 };
  }
}
