import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CancelHint, type ClaimRequest } from "@helm/contracts";
import {
  acquireDeviceLease,
  type DeviceLease,
  type HostIdentity,
  type Logger,
  openHostSocket,
  type PythonHome,
} from "@helm/host";
import type { WorkerConfig } from "./config";
import { ControlPlane, isRevoked } from "./control-plane";
import { deliver } from "./deliver";
import type { Hardware } from "./hardware";
import { leftRecords } from "./job-record";
import { Bell } from "./patience";
import { listCorpora, listModels } from "./roots";
import { type RunContext, runCalibration } from "./run-calibration";
import { runInspection } from "./run-inspection";

export interface WorkerOptions {
  config: WorkerConfig;
  identity: HostIdentity;
  hardware: Hardware;
  python: PythonHome;
  log: Logger;
  signal: AbortSignal;
}

/** How long a worker that was told to stop goes on delivering what it has. */
const DELIVERY_MS = 7000;

/** Claims and runs one job after another until the signal is aborted. Errors: this host's credential was revoked. */
export async function work(options: WorkerOptions): Promise<void> {
  const { config, identity, python, log, signal } = options;
  await mkdir(join(config.stateDir, "outbox"), { recursive: true, mode: 0o700 });
  const bell = new Bell();
  const socket = openHostSocket({
    controlUrl: config.controlUrl,
    namespace: "/workers",
    credential: identity.credential,
  });
  const controlPlane = new ControlPlane(
    { controlUrl: config.controlUrl, credential: identity.credential },
    socket,
  );
  let running: Parameters<RunContext["onRunning"]>[0] = null;
  socket.on("connect", () => {
    log.info("connected to the control plane");
    running?.wake();
    bell.wake();
  });
  socket.on("work", () => bell.wake());
  socket.on("cancel", (hint: unknown) => {
    const parsed = CancelHint.safeParse(hint);
    if (parsed.success && running?.job === parsed.data.job) running.beat();
  });
  signal.addEventListener("abort", () => bell.wake(), { once: true });
  const giveUp = new AbortController();
  const giveUpSoon = () => setTimeout(() => giveUp.abort(signal.reason), DELIVERY_MS).unref();
  signal.addEventListener("abort", giveUpSoon, { once: true });
  const onRunning: RunContext["onRunning"] = (run) => {
    running = run;
  };
  const context: RunContext = { config, python, controlPlane, log, signal, giveUp: giveUp.signal, onRunning };
  const tellUnreadable = (name: string) =>
    log.error(
      { outbox: name },
      "an earlier job's notes cannot be read; they were moved aside, and the run will be LOST",
    );
  try {
    for (const record of await leftRecords(join(config.stateDir, "outbox"), tellUnreadable))
      await deliver(record, context);
    let told = "";
    while (!signal.aborted) {
      const outcome = await claimAndRun(options, context);
      if (outcome !== told && outcome !== "ran") log.info({ state: outcome }, "worker");
      told = outcome;
      if (outcome !== "ran" && !signal.aborted) await bell.wait(config.pollMs);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await controlPlane.close();
  }
}

async function claimAndRun(options: WorkerOptions, context: RunContext): Promise<string> {
  const { config, hardware, log } = options;
  const taken = await acquireDeviceLease({
    directory: config.leaseDir,
    device: hardware.leaseName,
    purpose: "calibration",
  });
  const offer: ClaimRequest = {
    models: await listModels(config.modelRoots),
    corpora: await listCorpora(config.corporaRoot, config.hub),
    devices: [hardware.device],
    machine: config.machine,
    at: new Date().toISOString(),
  };
  if (!taken.ok) {
    const { holder } = taken;
    offer.waiting = `The device lease on ${hardware.leaseName} is held by process ${holder.pid} (${holder.purpose}) since ${holder.since}.`;
  }
  const release = once(taken.ok ? taken.lease : null);
  try {
    const job = await context.controlPlane.claim(offer);
    if (!job) return taken.ok ? "idle" : "waiting for the device";
    log.info({ job: job.id, kind: job.kind, attempt: job.attempt_number }, "claimed");
    if (job.kind === "inspection") await runInspection(job, context);
    else
      await runCalibration(job, context, {
        afterJob: release,
        onJob: (pid) => (taken.ok ? taken.lease.noteJob(pid) : Promise.resolve()),
      });
    return "ran";
  } catch (error) {
    if (isRevoked(error))
      throw new Error(
        "The control plane no longer knows this worker. Remove its state folder and join again.",
        { cause: error },
      );
    if (!context.signal.aborted) log.warn({ err: error }, "no job could be taken or delivered");
    return "control plane away";
  } finally {
    await release();
  }
}

function once(lease: DeviceLease | null): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => (done ??= lease ? lease.release() : Promise.resolve());
}
