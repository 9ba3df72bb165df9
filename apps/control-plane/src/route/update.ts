import { HelmError, StreamingMode } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { type RouteOut, readRoute } from "./schema";

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
  const changed = await ctx.db.route.updateMany({
    where: { name: input.name, revision: input.revision },
    data: {
      pairId: input.pairId,
      meanLogprob: input.judge?.meanLogprob,
      minLogprob: input.judge?.minLogprob,
      streaming: input.streaming,
      window: input.window,
      defaultMaxTokens: input.defaultMaxTokens,
      holdTurns: input.holdTurns,
      revision: { increment: 1 },
    },
  });
  if (changed.count === 0) {
    throw new HelmError("CONFLICT", "Someone else changed this route meanwhile. Look at it again.", {
      revision: before.revision,
    });
  }
  const after = await readRoute(ctx, input.name);
  if (!after) throw new HelmError("NOT_FOUND", `There is no route ${input.name}.`);
  await writeAudit(ctx, {
    verb: "route.update",
    entity: "route",
    entityId: after.id,
    before: audited(before),
    after: audited(after),
  });
  return after;
}

function audited({ updatedAt: _, ...fields }: RouteOut): Record<string, unknown> {
  return fields;
}
