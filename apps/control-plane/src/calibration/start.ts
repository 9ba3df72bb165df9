import {
  CalibrationOptions,
  CalibrationRoom,
  CorpusName,
  HelmError,
  MethodChoice,
  ModelFacts,
} from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { requireServed } from "../park/drain-reach";
import { reasonToStartWaiting } from "./waiting";

export const StartCalibrationInput = z.object({
  pairId: z.uuid(),
  corpus: CorpusName.default("bundled"),
  method: MethodChoice.default("default"),
  k: z.number().int().min(1).max(64).default(4),
  device: z.enum(["auto", "cuda", "rocm", "cpu"]).default("auto"),
  options: CalibrationOptions.default({}),
  room: CalibrationRoom.default("beside"),
  /** Of a run that drains: it is meant that a route is then served by no node. */
  acceptNoServing: z.boolean().default(false),
});
export const StartCalibrationOutput = z.object({ id: z.uuid() });

/** A row QUEUED with its audit row. Works while Helm is switched off. */
export async function startCalibration({ ctx, input }: Call<z.infer<typeof StartCalibrationInput>>) {
  const pair = await ctx.db.pair.findUnique({
    where: { id: input.pairId },
    include: { source: true, target: true },
  });
  if (!pair) throw new HelmError("NOT_FOUND", "There is no such pair.");
  const layers = ModelFacts.parse(pair.source.facts).num_hidden_layers;
  if (layers && input.k > layers) {
    throw new HelmError("BAD_REQUEST", `k is ${input.k}, but ${pair.source.name} has ${layers} layers.`, {
      layers,
    });
  }
  await requireNoOpenRun(ctx, pair.id);
  await requireServed(ctx, { ...input, pairId: pair.id });
  const waitingReason = await reasonToStartWaiting(ctx, {
    device: input.device,
    room: input.room,
    source: pair.source.name,
    target: pair.target.name,
  });
  const calibration = await ctx.db.calibration.create({
    data: {
      pairId: pair.id,
      corpus: input.corpus,
      method: input.method,
      k: input.k,
      device: input.device,
      room: input.room,
      acceptNoServing: input.room === "drain" && input.acceptNoServing,
      options: input.options,
      startedBy: actorName(ctx.actor),
      waitingReason,
      waitingSince: await databaseNow(ctx.db),
    },
  });
  await writeAudit(ctx, {
    verb: "calibration.start",
    entity: "calibration",
    entityId: calibration.id,
    after: {
      pair: `${pair.source.name} -> ${pair.target.name}`,
      corpus: input.corpus,
      method: input.method,
      k: input.k,
      device: input.device,
      room: input.room,
      options: input.options,
    },
  });
  ctx.afterCommit(() => ctx.services.hub.offerWork());
  return { id: calibration.id };
}

export async function requireNoOpenRun(ctx: Context, pairId: string): Promise<void> {
  // The pair's row is the lock; the partial unique index is the second line.
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${pairId}::uuid FOR NO KEY UPDATE`;
  const open = await ctx.db.calibration.findFirst({
    where: { pairId, state: { in: ["QUEUED", "RUNNING"] } },
  });
  if (!open) return;
  throw new HelmError("CALIBRATION_RUNNING", `A calibration of this pair is ${open.state} already.`, {
    calibrationId: open.id,
  });
}
