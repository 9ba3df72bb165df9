import { HelmError, StreamingMode } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { changeRow } from "../revision/change-row";
import { audited, type RouteOut, readRoute } from "./schema";

const logprob = z.number().min(-100).max(0);

export const UpdateRouteInput = z.object({
  name: z.string(),
  pairId: z.uuid().optional(),
  judge: z.object({ meanLogprob: logprob, minLogprob: logprob }).optional(),
  streaming: StreamingMode.optional(),
  window: z.number().int().min(1).max(4096).optional(),
  defaultMaxTokens: z.number().int().min(1).max(1_000_000).optional(),
  holdTurns: z.number().int().min(1).nullable().optional(),
  revision: z.number().int(),
});

export async function updateRoute({ ctx, input }: Call<z.infer<typeof UpdateRouteInput>>): Promise<RouteOut> {
  const before = await readRoute(ctx, input.name);
  if (!before) throw new HelmError("NOT_FOUND", `There is no route ${input.name}.`);
  if (input.pairId && !(await ctx.db.pair.findUnique({ where: { id: input.pairId } }))) {
    throw new HelmError("NOT_FOUND", "There is no such pair.");
  }
  const { pairId, judge, streaming, window, defaultMaxTokens, holdTurns } = input;
  return changeRow(ctx, {
    verb: "route.update",
    entity: "route",
    entityId: before.id,
    what: `the route ${before.name}`,
    revision: input.revision,
    read: () => readRoute(ctx, input.name),
    write: (where, next) =>
      ctx.db.route.updateMany({
        where: { id: before.id, ...where },
        data: { pairId, ...judge, streaming, window, defaultMaxTokens, holdTurns, ...next },
      }),
    audited,
  });
}
