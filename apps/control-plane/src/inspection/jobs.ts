import { randomUUID } from "node:crypto";
import {
  type ClaimedJob,
  type FinishRequest,
  type HeartbeatResponse,
  HelmError,
  ModelFacts,
} from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { writeAudit } from "../audit/write-audit";
import type { Capability } from "../calibration/claim";
import { Fenced } from "../calibration/lease";
import type { Call, Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { standingHost } from "../host/acting-host";
import { decideRegistrations } from "../pair/decide-registrations";

const MOST_ATTEMPTS = 3;

export async function claimInspection({ ctx, input }: Call<Capability>): Promise<ClaimedJob | null> {
  const host = await standingHost(ctx, "worker");
  const [found] = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "inspection"
    WHERE "state" = 'QUEUED' AND (${input.models === null} OR "model" = ANY(${input.models ?? []}))
    ORDER BY "created_at", "id" LIMIT 1
    FOR UPDATE SKIP LOCKED`;
  if (!found) return null;
  const leaseMs = ctx.services.config.leaseMs;
  const attempt = randomUUID();
  const row = await ctx.db.inspection.update({
    where: { id: found.id },
    data: {
      state: "RUNNING",
      attemptId: attempt,
      attemptNumber: { increment: 1 },
      workerId: host.id,
      leaseExpiresAt: later(await databaseNow(ctx.db), leaseMs),
    },
  });
  await writeAudit(ctx, {
    verb: "inspection.claim",
    entity: "inspection",
    entityId: row.id,
    after: { model: row.model, worker: host.name },
  });
  return {
    kind: "inspection",
    id: row.id,
    attempt,
    attempt_number: row.attemptNumber,
    lease_ms: leaseMs,
    model: row.model,
  };
}

export async function findInspection(ctx: Context, id: string) {
  return ctx.db.inspection.findUnique({ where: { id } });
}

async function holdInspection(ctx: Context, id: string, attempt: string) {
  const host = await standingHost(ctx, "worker");
  await ctx.db.$executeRaw`SELECT 1 FROM "inspection" WHERE "id" = ${id}::uuid FOR UPDATE`;
  const row = await ctx.db.inspection.findUnique({ where: { id } });
  if (row?.state !== "RUNNING" || row.attemptId !== attempt || row.workerId !== host.id) throw new Fenced(id);
  return row;
}

export async function heartbeatInspection({
  ctx,
  input,
}: Call<{ id: string; attempt: string }>): Promise<HeartbeatResponse> {
  const leaseMs = ctx.services.config.leaseMs;
  try {
    const row = await holdInspection(ctx, input.id, input.attempt);
    await ctx.db.inspection.update({
      where: { id: row.id },
      data: { leaseExpiresAt: later(await databaseNow(ctx.db), leaseMs) },
    });
    return { lease_ms: leaseMs, action: "continue" };
  } catch (error) {
    if (error instanceof Fenced) return { lease_ms: 0, action: "fenced" };
    throw error;
  }
}

/** Stores what the worker read, then decides every registration that waited for it. */
export async function finishInspection({
  ctx,
  input,
}: Call<FinishRequest & { id: string }>): Promise<{ state: string }> {
  const row = await holdInspection(ctx, input.id, input.attempt);
  const now = await databaseNow(ctx.db);
  if (input.outcome === "inspected") {
    const facts = ModelFacts.parse(input.facts);
    if (facts.id !== row.model)
      throw new HelmError("BAD_REQUEST", `These are facts of ${facts.id}, not of ${row.model}.`);
    const json = facts as Prisma.InputJsonValue;
    await ctx.db.inspection.update({
      where: { id: row.id },
      data: { state: "SUCCEEDED", facts: json, finishedAt: now },
    });
  } else {
    await ctx.db.inspection.update({
      where: { id: row.id },
      data: {
        state: "FAILED",
        errorCode: input.code ?? "UNREADABLE",
        errorMessage: input.message ?? `${row.model} could not be read.`,
        finishedAt: now,
      },
    });
  }
  await writeAudit(ctx, {
    verb: "inspection.finish",
    entity: "inspection",
    entityId: row.id,
    after: { model: row.model, outcome: input.outcome },
  });
  await decideRegistrations(ctx, row.id);
  return { state: input.outcome === "inspected" ? "SUCCEEDED" : "FAILED" };
}

/**
 * A silent worker's inspection goes back to the queue, three times; then what waits for it is told. One that is spoken of at
 * this moment is left alone: its worker is not silent, and whoever ends it must not wait for us while we wait for him.
 */
export async function sweepInspections(ctx: Context): Promise<void> {
  const now = await databaseNow(ctx.db);
  const expired = await ctx.db.$queryRaw<{ id: string; model: string; attemptNumber: number }[]>`
    SELECT "id"::text, "model", "attempt_number" AS "attemptNumber" FROM "inspection"
    WHERE "state" = 'RUNNING' AND "lease_expires_at" < ${now} ORDER BY "id" FOR UPDATE SKIP LOCKED`;
  for (const { id, model, attemptNumber } of expired) {
    const last = attemptNumber >= MOST_ATTEMPTS;
    await ctx.db.inspection.update({
      where: { id },
      data: last
        ? {
            state: "FAILED",
            errorCode: "LOST",
            errorMessage: `No worker finished reading ${model}.`,
            finishedAt: now,
          }
        : { state: "QUEUED", attemptId: null, leaseExpiresAt: null },
    });
    if (last) await decideRegistrations(ctx, id);
  }
}
