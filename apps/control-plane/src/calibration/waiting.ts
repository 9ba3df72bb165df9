import { isDeepStrictEqual } from "node:util";
import { type CalibrationRoom, type ClaimRequest, HelmError } from "@helm/contracts";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";
import { isConnected, Offers } from "../host/list";
import { offersDevice } from "./worker-offers";

type Device = "auto" | "cuda" | "rocm" | "cpu";

const NOBODY = "No worker is connected.";
const SOON = "Waiting for a worker to take it.";
const BUSY = "Every worker that could take it is busy with another run.";
const WITHOUT_MODELS = "No connected worker has both models of this pair.";
const NO_MACHINE =
  "No worker that could take it says which machine it is on, so nobody knows which nodes to drain. Update the worker, or calibrate beside the engines.";

interface Wanted {
  device: Device;
  room: CalibrationRoom;
  source: string;
  target: string;
}

/** Workers that are there, with what they last offered. */
async function connectedWorkers(ctx: Context) {
  const now = await databaseNow(ctx.db);
  const hosts = await ctx.db.host.findMany({
    where: { kind: "worker", revokedAt: null },
    include: { attempts: { where: { state: "RUNNING" }, select: { id: true }, take: 1 } },
    orderBy: { id: "asc" },
  });
  return hosts
    .filter((host) => isConnected(host, now))
    .map((host) => ({
      device: host.device,
      busy: host.attempts.length > 0,
      offers: Offers.catch({}).parse(host.offers),
    }));
}

type Worker = Awaited<ReturnType<typeof connectedWorkers>>[number];

/** Why a queued run is not running, as far as the rows know: the first thing that would have to change. */
function reasonOf(workers: Worker[], wanted: Wanted): string {
  const able = workers.filter((worker) => offersDevice(worker, wanted.device));
  if (able.length === 0) return NOBODY;
  const knowing = able.filter(({ offers: { models } }) =>
    models ? models.includes(wanted.source) && models.includes(wanted.target) : true,
  );
  if (knowing.length === 0) return WITHOUT_MODELS;
  const free = knowing.filter((worker) => !worker.busy);
  if (free.length === 0) return BUSY;
  const knowingMachine = free.filter((worker) => wanted.room !== "drain" || worker.offers.drains !== false);
  if (knowingMachine.length === 0) return NO_MACHINE;
  // Who has room for this kind may have none for the other, and says why.
  if (knowingMachine.some((worker) => worker.offers.rooms?.includes(wanted.room))) return SOON;
  return knowingMachine.map((worker) => worker.offers.waiting).find((sentence) => sentence) ?? SOON;
}

/** Where workers are there and none can take this device, queueing would wait for ever: refused with the reason. */
export async function reasonToStartWaiting(ctx: Context, wanted: Wanted): Promise<string> {
  const workers = await connectedWorkers(ctx);
  if (workers.length === 0 || workers.some((worker) => offersDevice(worker, wanted.device)))
    return reasonOf(workers, wanted);
  const { device } = wanted;
  const sentence =
    device === "cpu"
      ? "No connected worker offers a CPU: that is possible only on a host without an accelerator."
      : "No connected worker has an accelerator that Helm may use. On a host without one, choose the device cpu: its score is for development only.";
  throw new HelmError("UNAVAILABLE", sentence, { device, exitCode: 4 });
}

/**
 * Brings the reason of every queued run up to date: the worker that named it may be gone, or free again. The moment
 * beside it moves only with the sentence.
 */
export async function refreshWaiting(ctx: Context): Promise<void> {
  const queued = await ctx.db.calibration.findMany({
    where: { state: "QUEUED" },
    // In one order everywhere: two workers that ask at one moment write the same rows.
    orderBy: { id: "asc" },
    select: {
      id: true,
      device: true,
      room: true,
      waitingReason: true,
      pair: { select: { source: true, target: true } },
    },
  });
  if (queued.length === 0) return;
  const workers = await connectedWorkers(ctx);
  const now = await databaseNow(ctx.db);
  let changed = 0;
  for (const { id, device, room, pair, waitingReason } of queued) {
    const reason = reasonOf(workers, { device, room, source: pair.source.name, target: pair.target.name });
    if (reason === waitingReason) continue;
    const same = waitingReason !== null && withoutFigures(waitingReason) === withoutFigures(reason);
    const written = await ctx.db.calibration.updateMany({
      where: { id, state: "QUEUED" },
      data: { waitingReason: reason, ...(same ? {} : { waitingSince: now }) },
    });
    changed += written.count;
  }
  if (changed > 0) ctx.afterCommit(() => ctx.services.hub.hint("calibrations"));
}

/** "3.1 GiB in use" and "3.2 GiB in use" are one reason: the clock beside it must not start again. */
function withoutFigures(reason: string): string {
  return reason.replace(/\d+(?:\.\d+)?/g, "#");
}

/** What a worker offers, kept with its host; true where that is news. */
export async function keepOffers(
  ctx: Context,
  host: { id: string; offers: unknown; machine: string | null },
  input: ClaimRequest,
  clockSkewMs: number | null,
): Promise<boolean> {
  const offers = {
    models: input.models,
    corpora: input.corpora,
    devices: input.devices,
    waiting: input.waiting ?? null,
    rooms: input.rooms,
    drains: typeof input.machine === "string",
    clock_skew_ms: clockSkewMs,
  };
  const machine = input.machine ?? host.machine;
  // The database keeps no order of keys, and no undefined ones.
  if (isDeepStrictEqual(host.offers, JSON.parse(JSON.stringify(offers))) && machine === host.machine)
    return false;
  await ctx.db.host.update({ where: { id: host.id }, data: { offers, machine } });
  return true;
}
