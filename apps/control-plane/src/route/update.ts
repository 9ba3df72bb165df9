import { HelmError, RouteName } from "@helm/contracts";
import { z } from "zod";
import type { Call, Context } from "../context";
import { changeRow } from "../revision/change-row";
import { requireFittingJudge, requireUsableJudge } from "./check-judge";
import { requireFreeName, requirePossiblePair } from "./check-route";
import { audited, choiceColumns, RouteFields, type RouteOut, readRoute } from "./schema";

export const UpdateRouteInput = RouteFields.partial().extend({
  name: z.string(),
  newName: RouteName.optional(),
  pairId: z.uuid().optional(),
  revision: z.number().int(),
});

export async function updateRoute({ ctx, input }: Call<z.infer<typeof UpdateRouteInput>>): Promise<RouteOut> {
  const { name, newName = name, pairId, judge, judgeTable, revision, ...fields } = input;
  const before = await readRoute(ctx, name);
  if (!before) throw new HelmError("NOT_FOUND", `There is no route ${name}.`);
  if (newName !== name) {
    await requireFreeName(ctx, newName);
    await requireNobodyCalls(ctx, name, newName);
  }
  if (pairId && pairId !== before.pairId) await requirePossiblePair(ctx, pairId);
  await requireUsableJudge(ctx, judgeTable);
  let reading = name;
  return changeRow(ctx, {
    verb: "route.update",
    entity: "route",
    entityId: before.id,
    what: `the route ${name}`,
    revision,
    read: () => readRoute(ctx, reading),
    write: async (where, next) => {
      const done = await ctx.db.route.updateMany({
        where: { id: before.id, ...where },
        data: {
          name: newName,
          pairId,
          ...judge,
          ...(judgeTable === undefined ? {} : choiceColumns(judgeTable)),
          ...fields,
          ...next,
        },
      });
      if (done.count > 0) {
        reading = newName;
        await requireFittingJudge(ctx, await ctx.db.route.findUniqueOrThrow({ where: { id: before.id } }));
      }
      return done;
    },
    audited,
  });
}

/** A route's name is what clients send: while one could, it is not taken from under them. */
async function requireNobodyCalls(ctx: Context, name: string, newName: string): Promise<void> {
  const now = new Date();
  const live = await ctx.db.apiKey.count({
    where: { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
  });
  if (live === 0) return;
  throw new HelmError(
    "BAD_REQUEST",
    `${live === 1 ? "One API key is" : `${live} API keys are`} valid, and whoever holds one may ask for ${name}: after a rename that is 404 model_not_found. Create the route ${newName} beside it, move the clients, then remove ${name}.`,
    { issues: [{ path: "newName", message: "refused while API keys are valid" }], liveKeys: live },
  );
}
