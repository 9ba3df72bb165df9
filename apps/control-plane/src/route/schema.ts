import { type SnapshotRoute, StreamingMode } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";
import type { Context } from "../context";

export const RouteOut = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Where a request goes that names no model. */
  isDefault: z.boolean(),
  pairId: z.uuid(),
  pairName: z.string(),
  judge: z.object({ version: z.string(), meanLogprob: z.number(), minLogprob: z.number() }),
  streaming: StreamingMode,
  window: z.number().int(),
  defaultMaxTokens: z.number().int(),
  holdTurns: z.number().int().nullable(),
  maxSwitches: z.number().int(),
  shareKept: z.number(),
  shareEscalated: z.number(),
  shareForced: z.number(),
  revision: z.number().int(),
  updatedAt: z.date(),
});
export type RouteOut = z.infer<typeof RouteOut>;

export const DEFAULT_ROUTE = "helm-auto";

const chance = z.number().min(0).max(1);
const logprob = z.number().min(-100).max(0);

/** What a route is made of, beside its name and its pair. */
export const RouteFields = z.object({
  judge: z.object({ meanLogprob: logprob, minLogprob: logprob }),
  streaming: StreamingMode,
  window: z.number().int().min(1).max(4096),
  defaultMaxTokens: z.number().int().min(1).max(1_000_000),
  holdTurns: z.number().int().min(1).max(10_000).nullable(),
  maxSwitches: z.number().int().min(0).max(10_000),
  /** Probabilities; 0 draws none. */
  shareKept: chance,
  shareEscalated: chance,
  shareForced: chance,
});

const name = { select: { name: true } } as const;
const withPair = { pair: { select: { source: name, target: name } } } satisfies Prisma.RouteInclude;

/** The default route first, then the oldest: the order in which nodes get them. */
export async function listRoutes(ctx: Context): Promise<RouteOut[]> {
  const rows = defaultFirst(
    await ctx.db.route.findMany({ include: withPair, orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
  );
  return rows.map(({ pair, meanLogprob, minLogprob, judgeVersion, createdAt: _, ...route }, index) => ({
    ...route,
    isDefault: index === 0,
    pairName: `${pair.source.name} -> ${pair.target.name}`,
    judge: { version: judgeVersion, meanLogprob, minLogprob },
  }));
}

/** One route, by name, else the default one; null where there is none. */
export async function readRoute(ctx: Context, name?: string): Promise<RouteOut | null> {
  const routes = await listRoutes(ctx);
  return (name === undefined ? routes[0] : routes.find((route) => route.name === name)) ?? null;
}

export function defaultFirst<R extends { name: string }>(routes: R[]): R[] {
  const isDefault = (route: R) => route.name === DEFAULT_ROUTE;
  return [...routes.filter(isDefault), ...routes.filter((route) => !isDefault(route))];
}

interface RouteRow {
  name: string;
  pairId: string;
  judgeVersion: string;
  meanLogprob: number;
  minLogprob: number;
  streaming: StreamingMode;
  window: number;
  defaultMaxTokens: number;
  holdTurns: number | null;
  maxSwitches: number;
  shareKept: number;
  shareEscalated: number;
  shareForced: number;
}

/** A route as nodes are told of it. */
export function snapshotRoute(route: RouteRow): SnapshotRoute {
  return {
    name: route.name,
    pair_id: route.pairId,
    judge: { version: route.judgeVersion, mean_logprob: route.meanLogprob, min_logprob: route.minLogprob },
    streaming: route.streaming,
    window: route.window,
    default_max_tokens: route.defaultMaxTokens,
    hold_turns: route.holdTurns,
    max_switches: route.maxSwitches,
    shares: {
      kept_also_target: route.shareKept,
      escalated_also_native: route.shareEscalated,
      forced_escalation: route.shareForced,
    },
  };
}

export function audited({ updatedAt: _, isDefault: __, ...fields }: RouteOut): Record<string, unknown> {
  return fields;
}
