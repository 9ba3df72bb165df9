import { StreamingMode } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";

export const RouteOut = z.object({
  id: z.uuid(),
  name: z.string(),
  pairId: z.uuid(),
  pairName: z.string(),
  judge: z.object({ version: z.string(), meanLogprob: z.number(), minLogprob: z.number() }),
  streaming: StreamingMode,
  window: z.number().int(),
  defaultMaxTokens: z.number().int(),
  holdTurns: z.number().int().nullable(),
  revision: z.number().int(),
  updatedAt: z.date(),
});
export type RouteOut = z.infer<typeof RouteOut>;

export const DEFAULT_ROUTE = "helm-auto";

/** The fleet's route, the default one first; null before any pair was registered. */
export async function readRoute(ctx: Context, name?: string): Promise<RouteOut | null> {
  const routes = await ctx.db.route.findMany({
    where: name === undefined ? {} : { name },
    include: { pair: { include: { source: true, target: true } } },
    orderBy: { createdAt: "asc" },
  });
  const route = routes.find((row) => row.name === DEFAULT_ROUTE) ?? routes[0];
  if (!route) return null;
  return {
    id: route.id,
    name: route.name,
    pairId: route.pairId,
    pairName: `${route.pair.source.name} -> ${route.pair.target.name}`,
    judge: { version: route.judgeVersion, meanLogprob: route.meanLogprob, minLogprob: route.minLogprob },
    streaming: route.streaming,
    window: route.window,
    defaultMaxTokens: route.defaultMaxTokens,
    holdTurns: route.holdTurns,
    revision: route.revision,
    updatedAt: route.updatedAt,
  };
}

export function audited({ updatedAt: _, ...fields }: RouteOut): Record<string, unknown> {
  return fields;
}
