import { HelmError, RouteName } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { requireFittingJudge, requireUsableJudge } from "./check-judge";
import { requireFreeName, requirePossiblePair } from "./check-route";
import { audited, choiceColumns, RouteFields, type RouteOut, readRoute } from "./schema";

export const CreateRouteInput = RouteFields.partial({
  judgeTable: true,
  streaming: true,
  window: true,
  defaultMaxTokens: true,
  holdTurns: true,
  maxSwitches: true,
  shareKept: true,
  shareEscalated: true,
  shareForced: true,
}).extend({ name: RouteName, pairId: z.uuid() });

export async function createRoute({ ctx, input }: Call<z.infer<typeof CreateRouteInput>>): Promise<RouteOut> {
  const { judge, judgeTable = null, ...fields } = input;
  await requireFreeName(ctx, input.name);
  await requirePossiblePair(ctx, input.pairId);
  await requireUsableJudge(ctx, judgeTable);
  const created = await ctx.db.route.create({ data: { ...fields, ...judge, ...choiceColumns(judgeTable) } });
  await requireFittingJudge(ctx, created);
  const route = await readRoute(ctx, input.name);
  if (!route) throw new HelmError("INTERNAL", "The route is not there.");
  await writeAudit(ctx, {
    verb: "route.create",
    entity: "route",
    entityId: route.id,
    after: audited(route),
  });
  return route;
}
