import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CancelHint, type ClaimRequest } from "@helm/contracts";
import {
  acquireDeviceLease,
  DeviceGuard,
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
import { JobAftermath } from "./job-aftermath";
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
  const { config, identity, hardware, python, log, signal } = options;
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
  const { leaseDir, budget } = config;
  const { leaseName, guardName, device } = hardware;
  const guard = new DeviceGuard({ python, leaseDir, leaseName, device: guardName, budget });
  const ask = device === "cpu" ? null : () => guard.ask();
  const aftermath = new JobAftermath({ device: guardName, ask }, log);
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
      const { outcome, why } = await claimAndRun(options, context, guard, aftermath);
      if (outcome !== told && outcome !== "ran") log.info({ state: outcome, why }, "worker");
      told = outcome;
      if (outcome !== "ran" && !signal.aborted) await bell.wait(config.pollMs);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await controlPlane.close();
  }
}

interface Turn {
  outcome: "ran" | "idle" | "waiting for the device" | "control plane away";
  why?: string;
}

async function claimAndRun(
  options: WorkerOptions,
  context: RunContext,
  guard: DeviceGuard,
  aftermath: JobAftermath,
): Promise<Turn> {
  const { config, hardware, log } = options;
  const left = await aftermath.recheck();
  const lease = left === null ? await takeLease(options) : null;
  let job: number | null = null;
  const giveBack = once(async () => {
    if (typeof lease !== "object" || lease === null) return;
    await (job === null ? lease.release() : aftermath.settle(job, lease));
  });
  try {
    const room = await roomOnDevice(left, lease, guard);
    const offer: ClaimRequest = {
      models: await listModels(config.modelRoots),
      corpora: await listCorpora(config.corporaRoot, config.hub),
      devices: [hardware.device],
      machine: config.machine,
      at: new Date().toISOString(),
      ...room,
    };
    const claimed = await context.controlPlane.claim(offer);
    if (!claimed)
      return room.waiting ? { outcome: "waiting for the device", why: room.waiting } : { outcome: "idle" };
    log.info({ job: claimed.id, kind: claimed.kind, attempt: claimed.attempt_number }, "claimed");
    if (claimed.kind === "inspection") await runInspection(claimed, context);
    else
      await runCalibration(claimed, context, {
        guard: () => reasonNotFree(guard),
        afterJob: giveBack,
        onJob: async (pid) => {
          job = pid;
          if (typeof lease === "object") await lease?.noteJob(pid);
        },
      });
    return { outcome: "ran" };
  } catch (error) {
    if (isRevoked(error))
      throw new Error(
        "The control plane no longer knows this worker. Remove its state folder and join again.",
        { cause: error },
      );
    if (!context.signal.aborted) log.warn({ err: error }, "no job could be taken or delivered");
    return { outcome: "control plane away" };
  } finally {
    await giveBack();
  }
}

/** The lease on this worker's device, or the sentence that says who has it or why nobody can take it. */
async function takeLease({ config, hardware }: WorkerOptions): Promise<DeviceLease | string> {
  const taken = await acquireDeviceLease({
    directory: config.leaseDir,
    device: hardware.leaseName,
    purpose: "calibration",
    budgetBytes: config.budget.neededBytes,
  }).catch((error: Error) => error);
  if (taken instanceof Error)
    return `The device lease on ${hardware.leaseName} cannot be taken: ${taken.message}`.slice(0, 480);
  if (taken.ok) return taken.lease;
  const { pid, purpose, since } = taken.holder;
  return `The device lease on ${hardware.leaseName} is held by process ${pid} (${purpose}) since ${since}.`;
}

/** What this worker could take now. Where a job has left something behind that is nothing, an inspection included. */
async function roomOnDevice(
  left: string | null,
  lease: DeviceLease | string | null,
  guard: DeviceGuard,
): Promise<Pick<ClaimRequest, "waiting" | "rooms">> {
  if (left !== null) return { waiting: left };
  if (typeof lease === "string") return { waiting: lease, rooms: [] };
  const { rooms, sentence } = await guard.look();
  return sentence === null ? { rooms } : { waiting: sentence, rooms };
}

/** For a run whose nodes have made room: engines that were to go must be gone. */
async function reasonNotFree(guard: DeviceGuard): Promise<string | null> {
  const { rooms, sentence } = await guard.look();
  return rooms.includes("beside") ? null : sentence;
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => (done ??= work());
}
