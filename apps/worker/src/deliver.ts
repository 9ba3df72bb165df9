import { rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Logger } from "@helm/host";
import { type ControlPlane, isFenced, isRefused } from "./control-plane";
import { type JobRecord, saveRecord } from "./job-record";
import { Bell, untilAnswered } from "./patience";
import { Relay } from "./relay";

export interface DeliveryContext {
  controlPlane: ControlPlane;
  log: Logger;
  /** Aborted a moment after the worker was told to stop: what is left waits on disk for its next life. */
  giveUp: AbortSignal;
}

/**
 * Brings an ended job home: the rest of its events, its artifact by digest, its outcome; then forgets it. A job that a
 * newer attempt has replaced is forgotten unsent. Errors: the signal's reason; a credential that is no longer known.
 */
export async function deliver(record: JobRecord, context: DeliveryContext, relay?: Relay): Promise<void> {
  const { job, attempt, outbox } = record;
  const { controlPlane, log, giveUp } = context;
  const sender = relay ?? new Relay(outbox, { job, attempt, controlPlane }, log);
  const stop = () => sender.abandon();
  giveUp.addEventListener("abort", stop, { once: true });
  if (giveUp.aborted) stop();
  try {
    await sender
      .drain()
      .catch((error) => fail(record, error, "EVENTS_REFUSED", "The control plane refused this run's events"));
    await upload(record, context).catch((error) =>
      fail(record, error, "ARTIFACT_REFUSED", "The control plane refused the mapper"),
    );
    const { finish } = record;
    if (finish) await untilAnswered(() => controlPlane.finish(job, finish), new Bell(), giveUp);
    log.info({ job, outcome: finish?.outcome, code: finish?.code }, "job delivered");
  } catch (error) {
    if (!isFenced(error) && !isRefused(error)) {
      await outbox.close();
      throw error;
    }
    log.warn(
      { err: error, job, attempt },
      "the control plane takes nothing of this attempt, it is forgotten",
    );
  } finally {
    giveUp.removeEventListener("abort", stop);
  }
  if (record.artifact) await rm(dirname(record.artifact.path), { recursive: true, force: true });
  await outbox.discard();
}

async function upload(record: JobRecord, context: DeliveryContext): Promise<void> {
  const { job, attempt, artifact } = record;
  if (!artifact || record.finish?.outcome !== "fitted") return;
  if (!(await isThere(artifact.path))) {
    setFailed(
      record,
      "ARTIFACT_GONE",
      "The mapper's file was gone before it could be uploaded. Calibrate again.",
    );
    await saveRecord(record).catch(() => undefined);
    return;
  }
  await untilAnswered(
    () => context.controlPlane.upload(artifact.path, artifact.sha256, job, attempt),
    new Bell(),
    context.giveUp,
  );
}

/** A run whose events or mapper were refused ends as failed and says so, instead of being waited for in vain. */
async function fail(record: JobRecord, error: unknown, code: string, what: string): Promise<void> {
  if (!isRefused(error)) throw error;
  setFailed(record, code, `${what}: ${(error as Error).message}`);
  await saveRecord(record).catch(() => undefined);
}

function setFailed(record: JobRecord, code: string, message: string): void {
  record.finish = { attempt: record.attempt, outcome: "failed", code, message, exit_code: 1 };
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
