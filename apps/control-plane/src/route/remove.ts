import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { conflictOf } from "../revision/conflict";
import { audited, readRoute } from "./schema";

export const RemoveRouteInput = z.object({ name: z.string(), revision: z.number().int() });
export const RemoveRouteOutput = z.object({ id: z.uuid(), name: z.string() });

/** Whoever asks for it afterwards gets 404 model_not_found. */
export async function removeRoute({ ctx, input }: Call<z.infer<typeof RemoveRouteInput>>) {
  const route = await readRoute(ctx, input.name);
  if (!route) throw new HelmError("NOT_FOUND", `There is no route ${input.name}.`);
  const { id, name } = route;
  const gone = await ctx.db.route.deleteMany({ where: { id, revision: input.revision } });
  if (gone.count === 0) {
    const current = (await readRoute(ctx, name)) ?? route;
    throw await conflictOf(ctx, {
      entity: "route",
      entityId: id,
      what: `the route ${name}`,
      revision: input.revision,
      current,
    });
  }
  await writeAudit(ctx, { verb: "route.remove", entity: "route", entityId: id, before: audited(route) });
  return { id, name };
}
