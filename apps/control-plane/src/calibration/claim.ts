import type { CalibrationRoom, ClaimedJob, ClaimRequest } from "@helm/contracts";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { actingHost } from "../host/acting-host";
import { beginDrain } from "./begin-drain";
import { nextState } from "./states";

export interface Capability {
  devices: string[];
  /** Null: the worker named none, so it is asked for any. */
  models: string[] | null;
  rooms: CalibrationRoom[];
  machine: string | null;
}

export function capabilityOf(device: string, input: ClaimRequest): Capability {
  const machine = input.machine ?? null;
  const rooms = input.rooms ?? (input.waiting ? [] : ["beside", "drain"]);
  return {
    devices: input.devices ?? [device],
    models: input.models ?? null,
    rooms: rooms.filter((room) => room === "beside" || machine !== null),
    machine,
  };
}

/** The oldest run this worker can take, leased to it; rows that another worker is taking are skipped, not waited for. */
export async function claimCalibration({ ctx, input }: Call<Capability>): Promise<ClaimedJob | null> {
  const host = actingHost(ctx, "worker");
  const [found] = await lockOldestQueued(ctx, input);
  if (!found) return null;
  const before = await ctx.db.calibration.findUniqueOrThrow({
    where: { id: found.id },
    include: { pair: { include: { source: true, target: true } } },
  });
  const number = before.attempt + 1;
  const leaseMs = ctx.services.config.leaseMs;
  const { drainUntil, waitsFor } = await beginDrain(ctx, before, input.machine);
  const now = await databaseNow(ctx.db);
  const attempt = await ctx.db.calibrationAttempt.create({
    data: {
      calibrationId: before.id,
      number,
      workerId: host.id,
      startedAt: now,
      leaseExpiresAt: later(now, leaseMs),
      drainUntil,
    },
  });
  await ctx.db.calibration.update({
    where: { id: before.id },
    data: {
      state: nextState(before.state, "claim"),
      attempt: number,
      startedAt: before.startedAt ?? now,
      lastSeq: 0,
      lastUpdateAt: now,
      waitingReason: waitsFor,
      waitingSince: null,
    },
  });
  await writeAudit(ctx, {
    verb: "calibration.claim",
    entity: "calibration",
    entityId: before.id,
    before: { state: before.state },
    after: { state: "RUNNING", attempt: number, worker: host.name, room: before.room },
  });
  return {
    kind: "calibration",
    id: before.id,
    attempt: attempt.id,
    attempt_number: number,
    lease_ms: leaseMs,
    source_model: before.pair.source.name,
    target_model: before.pair.target.name,
    corpus: before.corpus,
    method: before.method,
    k: before.k,
    device: before.device,
    options: before.options as Record<string, unknown>,
    room: before.room,
    waits_for: waitsFor,
  };
}

/** "auto" never means the CPU: only a worker with an accelerator takes such a run. */
function lockOldestQueued(ctx: Context, { devices, models, rooms }: Capability): Promise<{ id: string }[]> {
  const accepted = devices.some((device) => device !== "cpu") ? [...devices, "auto"] : devices;
  return ctx.db.$queryRaw<{ id: string }[]>`
    SELECT c."id" FROM "calibration" c
    JOIN "pair" p ON p."id" = c."pair_id"
    JOIN "model" s ON s."id" = p."source_id"
    JOIN "model" t ON t."id" = p."target_id"
    WHERE c."state" = 'QUEUED' AND c."device"::text = ANY(${accepted}) AND c."room"::text = ANY(${rooms})
      AND (${models === null} OR (s."name" = ANY(${models ?? []}) AND t."name" = ANY(${models ?? []})))
    ORDER BY c."created_at", c."id" LIMIT 1
    FOR NO KEY UPDATE OF c SKIP LOCKED`;
}
