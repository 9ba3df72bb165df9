import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type CalibrationEvent,
  CalibrationOptions,
  type ClaimedJob,
  ExitCode,
  type FinishRequest,
  mendText,
  optionFlags,
} from "@helm/contracts";
import { hubEnvironment, type Logger, type OutboxError, type PythonHome } from "@helm/host";
import { z } from "zod";
import type { WorkerConfig } from "./config";
import { isFenced } from "./control-plane";
import { type DeliveryContext, deliver } from "./deliver";
import { EventQueue } from "./event-queue";
import { Heartbeat, type Order } from "./heartbeat";
import { createRecord, type JobRecord, saveRecord } from "./job-record";
import { Bell, untilAnswered } from "./patience";
import { type JobEnd, type PythonJob, startPythonJob } from "./python-job";
import { Relay } from "./relay";
import { waitForRoom } from "./room-wait";
import { NotAllowed, resolveCorpus, resolveModel } from "./roots";

type CalibrationJob = Extract<ClaimedJob, { kind: "calibration" }>;

/** Options a run may carry beside its named ones; anything else is refused, not ignored. */
const Options = CalibrationOptions.strict();

export interface RunContext extends DeliveryContext {
  config: WorkerConfig;
  python: PythonHome;
  /** Aborted when the worker is told to stop. */
  signal: AbortSignal;
  /** Tells the heart of the running job to beat now, and its relay that the way may be open. */
  onRunning(run: { job: string; beat(): void; wake(): void } | null): void;
}

/** Time that a job gets between SIGTERM and SIGKILL; a worker that stops has less of it to give. */
const GRACE_MS = 8000;
const SHUTDOWN_GRACE_MS = 4000;

const graceFor = (order: Order | "shutdown") => (order === "shutdown" ? SHUTDOWN_GRACE_MS : GRACE_MS);

export interface JobHooks {
  /** Called with the process group that computes. */
  onJob(pid: number): Promise<void>;
  /** Called once its processes are gone. */
  afterJob(): Promise<void>;
  /** Asked once nodes have made room, before the job begins: a sentence where the device is not free all the same. */
  guard?(): Promise<string | null>;
}

/** Runs one claimed calibration to its end and delivers it. */
export async function runCalibration(
  job: CalibrationJob,
  context: RunContext,
  hooks: JobHooks,
): Promise<void> {
  const { controlPlane, log, config } = context;
  const record = await createRecord(
    join(config.stateDir, "outbox"),
    job.id,
    job.attempt,
    config.outbox,
  ).catch((error: unknown) => refuseJob(job, context, error));
  if (!record) return;
  const relay = new Relay(record.outbox, { job: job.id, attempt: job.attempt, controlPlane }, log);
  let running: PythonJob | null = null;
  let order: Order | "shutdown" | null = null;
  let full: OutboxError | null = null as OutboxError | null;
  const obey = (given: Order | "shutdown") => {
    order ??= given;
    void running?.stop(graceFor(given));
  };
  relay.onRefused(() => void running?.stop(GRACE_MS));
  const heart = new Heartbeat(
    {
      id: job.id,
      attempt: job.attempt,
      leaseMs: job.lease_ms,
      lastSeq: () => record.outbox.lastSeq,
      waitsFor: job.waits_for,
    },
    controlPlane,
    obey,
    log,
  );
  const shutdown = () => obey("shutdown");
  context.signal.addEventListener("abort", shutdown, { once: true });
  context.onRunning({ job: job.id, beat: () => heart.now(), wake: () => relay.wake() });
  try {
    const queue = new EventQueue(record.outbox, (error) => {
      log.error({ err: error, job: job.id }, "the outbox takes no more: the run is ended");
      full ??= error;
      void running?.stop(GRACE_MS);
    });
    const emit = (event: CalibrationEvent) => {
      queue.add(withoutPaths(event));
      relay.wake();
    };
    await waitForRoom(heart, emit, () => order !== null);
    const busy = job.room === "drain" && !order ? ((await hooks.guard?.()) ?? null) : null;
    const end: JobEnd = order
      ? { kind: "interrupted" }
      : busy !== null
        ? deviceNotFree(busy)
        : await attemptRun(job, context, emit, (started) => {
            running = started;
            hooks
              .onJob(started.pid)
              .catch((error: unknown) => log.warn({ err: error }, "the lease does not name the job"));
            if (order) void started.stop(graceFor(order));
          });
    await hooks.afterJob();
    if (job.room === "drain") heart.freeRoom();
    queue.sayWhatIsMissing();
    log.info({ job: job.id, end: end.kind }, "job ended");
    if (order === "fenced") {
      relay.abandon();
      await record.outbox.discard();
      return;
    }
    await conclude(record, full ? outboxFull(full) : end, order, log);
    await deliver(record, context, relay);
  } finally {
    heart.stop();
    context.signal.removeEventListener("abort", shutdown);
    context.onRunning(null);
  }
}

async function attemptRun(
  job: CalibrationJob,
  context: RunContext,
  emit: (event: CalibrationEvent) => void,
  onStarted: (job: PythonJob) => void,
): Promise<JobEnd> {
  try {
    const { args, extra } = await jobArguments(job, context.config);
    const started = await startPythonJob(context.python, args, context.log, emit, extra);
    onStarted(started);
    return await started.end;
  } catch (error) {
    const known = error instanceof NotAllowed || error instanceof z.ZodError;
    const code = error instanceof NotAllowed ? "NOT_ALLOWED" : known ? "BAD_OPTIONS" : "JOB_NOT_STARTED";
    const message =
      error instanceof z.ZodError
        ? `The run's options cannot be used: ${error.issues[0]?.message}.`
        : String((error as Error).message);
    const exitCode =
      error instanceof NotAllowed ? ExitCode.unreadable : known ? ExitCode.usage : ExitCode.machineryFailed;
    context.log.warn({ err: error, job: job.id }, "the job was not started");
    emit({ v: 1, at: new Date().toISOString(), type: "failed", code, message, exit_code: exitCode });
    return { kind: "failed", code, message, exitCode };
  }
}

interface Arguments {
  args: string[];
  extra: Record<string, string>;
}

async function jobArguments(job: CalibrationJob, config: WorkerConfig): Promise<Arguments> {
  const options = Options.parse(job.options);
  const out = join(config.stateDir, "artifacts");
  await mkdir(out, { recursive: true, mode: 0o700 });
  const source = await resolveModel(job.source_model, config.modelRoots);
  const target = await resolveModel(job.target_model, config.modelRoots);
  const corpus = await resolveCorpus(job.corpus, config.corporaRoot, config.hub);
  const args = ["calibrate", "--source-model", source, "--target-model", target, "--corpus", corpus.given];
  args.push("--corpus-store", join(config.stateDir, "corpora"));
  args.push("--k", String(job.k), "--device", job.device, "--out", out);
  // "default" leaves the choice to the library, whose default is what measured best.
  if (job.method !== "default") args.push("--method", job.method);
  return {
    args: [...args, ...optionFlags(options)],
    extra: corpus.hub ? hubEnvironment(corpus.hub) : {},
  };
}

/** This host's paths are nobody else's business: the artifact is named by its digest. */
function withoutPaths(event: CalibrationEvent): CalibrationEvent {
  if (event.type !== "result") return event;
  return { ...event, artifact: { ...event.artifact, path: `${event.artifact.sha256}/mapper.safetensors` } };
}

/** A run that cannot be written down is not begun: it ends at once, with the reason. */
async function refuseJob(
  job: CalibrationJob,
  { controlPlane, log, giveUp }: RunContext,
  error: unknown,
): Promise<null> {
  log.error({ err: error, job: job.id }, "a claimed run cannot be written down");
  const full = ["ENOSPC", "EDQUOT", "DISK_FULL"].includes(String((error as { code?: unknown }).code));
  const code = full ? "WORKER_DISK_FULL" : "WORKER_DISK_FAILED";
  const message = full
    ? "The disk of the worker's state folder is full. Make room there, then start the run again."
    : "The worker's state folder cannot be written; its log says why. Mend it, then start the run again.";
  const finish = {
    attempt: job.attempt,
    outcome: "failed" as const,
    code,
    message,
    exit_code: ExitCode.resources,
  };
  await untilAnswered(() => controlPlane.finish(job.id, finish), new Bell(), giveUp).catch(
    (refused: unknown) => {
      if (!isFenced(refused)) throw refused;
    },
  );
  return null;
}

function deviceNotFree(sentence: string): JobEnd {
  const message = `The nodes of this machine are parked, and its device is still not free. ${sentence}`;
  return { kind: "failed", code: "DEVICE_NOT_FREE", message, exitCode: ExitCode.resources };
}

function outboxFull(error: OutboxError): JobEnd {
  const message = `The control plane was away for so long that this run's events filled the worker's outbox. ${error.message} Raise HELM_OUTBOX_MAX_BYTES there, or start the run again.`;
  return { kind: "failed", code: error.code, message, exitCode: ExitCode.resources };
}

/** Writes down how the job ended before anything is sent. A full disk does not keep it from being sent. */
async function conclude(
  record: JobRecord,
  end: JobEnd,
  order: Order | "shutdown" | null,
  log: Logger,
): Promise<void> {
  record.finish = finishOf(record.attempt, end, order);
  if (end.kind === "fitted")
    record.artifact = { sha256: end.result.artifact.sha256, path: end.result.artifact.path };
  await saveRecord(record).catch((error: unknown) => {
    log.error(
      { err: error, job: record.job },
      "how a run ended cannot be written down; it is sent from memory",
    );
  });
}

function finishOf(attempt: string, end: JobEnd, order: Order | "shutdown" | null): FinishRequest {
  switch (end.kind) {
    case "fitted":
      return { attempt, outcome: "fitted", artifact_sha256: end.result.artifact.sha256, exit_code: 0 };
    case "failed":
      return {
        attempt,
        outcome: "failed",
        code: mendText(end.code),
        message: mendText(end.message),
        exit_code: end.exitCode,
      };
    case "interrupted": {
      if (order === "cancel") return { attempt, outcome: "cancelled", exit_code: ExitCode.interrupted };
      const message =
        order === "shutdown"
          ? "The worker was stopped while the run was on. Start it again."
          : "The job was interrupted on its host. Start it again.";
      const code = order === "shutdown" ? "WORKER_STOPPED" : "INTERRUPTED";
      return { attempt, outcome: "failed", code, message, exit_code: ExitCode.interrupted };
    }
  }
}
