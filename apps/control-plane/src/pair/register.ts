import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { lockNames } from "./lock-names";

/** As a hub names models, or a folder under an allowed root: no path that climbs, no address. */
export const ModelId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(\/[A-Za-z0-9][A-Za-z0-9._-]{0,95}){0,3}$/,
    "a model id such as owner/name",
  )
  .refine((id) => !id.includes(".."), "no path may climb");

export const RegisterPairInput = z.object({ sourceModel: ModelId, targetModel: ModelId });
export const RegisterPairOutput = z.object({ registrationId: z.uuid() });

/** Asks a worker to look at both models; what it reports decides. */
export async function registerPair({ ctx, input }: Call<z.infer<typeof RegisterPairInput>>) {
  const { sourceModel, targetModel } = input;
  await lockNames(ctx, [sourceModel, targetModel]);
  const route = await ctx.db.route.findFirst({ where: { name: { in: [sourceModel, targetModel] } } });
  if (route)
    throw new HelmError(
      "BAD_REQUEST",
      `${route.name} is the name of a route: a model of that name would be served in its place. Rename the route, or the model's folder.`,
    );
  const pending = await ctx.db.pairRegistration.findFirst({
    where: { sourceModel, targetModel, state: "PENDING" },
  });
  if (pending)
    throw new HelmError("CONFLICT", "This registration is under way already.", {
      registrationId: pending.id,
    });
  // After those that wait: one that is being decided at this moment is a pair by now.
  const existing = await ctx.db.pair.findFirst({
    where: { source: { name: sourceModel }, target: { name: targetModel } },
  });
  if (existing)
    throw new HelmError("PAIR_EXISTS", `The pair ${sourceModel} -> ${targetModel} is registered already.`, {
      pairId: existing.id,
    });
  const sourceInspectionId = await requestInspection(ctx, sourceModel);
  const targetInspectionId =
    sourceModel === targetModel ? sourceInspectionId : await requestInspection(ctx, targetModel);
  const registration = await ctx.db.pairRegistration.create({
    data: {
      sourceModel,
      targetModel,
      sourceInspectionId,
      targetInspectionId,
      requestedBy: actorName(ctx.actor),
    },
  });
  await writeAudit(ctx, {
    verb: "pair.register",
    entity: "registration",
    entityId: registration.id,
    after: { sourceModel, targetModel },
  });
  ctx.afterCommit(() => ctx.services.hub.offerWork());
  return { registrationId: registration.id };
}

/**
 * One open inspection a model: a second request joins it. It is held as open until this registration stands: an end that
 * came in between would decide every registration but this one, which would wait for ever.
 */
async function requestInspection(ctx: Context, model: string): Promise<string> {
  const [open] = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "inspection" WHERE "model" = ${model} AND "state" IN ('QUEUED', 'RUNNING') LIMIT 1 FOR SHARE`;
  if (open) return open.id;
  return (await ctx.db.inspection.create({ data: { model } })).id;
}
