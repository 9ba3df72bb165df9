import {
  JudgeBy,
  JudgeModel,
  JudgeTable,
  JudgeThreshold,
  type ServedJudge,
  type SnapshotRoute,
  StreamingMode,
} from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";
import type { Context } from "../context";
import { isStale, JudgeChoice, JudgeTableOut, judgeTableOut, withNames } from "../judge/schema";
import { thresholdOf } from "../judge/threshold";

export const RouteOut = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Where a request goes that names no model. */
  isDefault: z.boolean(),
  pairId: z.uuid(),
  pairName: z.string(),
  judge: z.object({ version: z.string(), meanLogprob: z.number(), minLogprob: z.number() }),
  /** The table that judges, how its threshold was chosen, and what that comes to; null: the two bounds judge. */
  judgeTable: JudgeTableOut.pick({
    id: true,
    sha256: true,
    streaming: true,
    window: true,
    label: true,
    stale: true,
  })
    .extend({ by: JudgeBy, threshold: JudgeThreshold })
    .nullable(),
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
  judgeTable: JudgeChoice.nullable(),
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
const withPair = {
  pair: { select: { source: name, target: name } },
  judgeTable: { include: withNames },
} satisfies Prisma.RouteInclude;

/** The default route first, then the oldest: the order in which nodes get them. */
export async function listRoutes(ctx: Context): Promise<RouteOut[]> {
  const rows = defaultFirst(
    await ctx.db.route.findMany({ include: withPair, orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
  );
  return rows.map((row, index) => {
    const { pair, meanLogprob, minLogprob, judgeVersion, createdAt: _, ...found } = row;
    const { judgeTable, judgeTableId: __, escalationRate: ___, qualityFloor: ____, ...route } = found;
    return {
      ...route,
      isDefault: index === 0,
      pairName: `${pair.source.name} -> ${pair.target.name}`,
      judge: { version: judgeVersion, meanLogprob, minLogprob },
      judgeTable: judgeTable && judgeOut(row, judgeTable),
    };
  });
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

export const withJudge = { judgeTable: { include: withNames } } satisfies Prisma.RouteInclude;

interface RouteRow {
  judgeTable: Prisma.JudgeTableGetPayload<{ include: typeof withNames }> | null;
  escalationRate: number | null;
  qualityFloor: number | null;
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

function judgeOut(
  row: Pick<RouteRow, "escalationRate" | "qualityFloor">,
  found: NonNullable<RouteRow["judgeTable"]>,
): NonNullable<RouteOut["judgeTable"]> {
  const { id, sha256, streaming, window, label, stale } = judgeTableOut(found);
  return { id, sha256, streaming, window, label, stale, ...chosenBy(row, found.table) };
}

/** How a route's row says that its threshold is chosen, and what that comes to on its table. */
function chosenBy(
  { escalationRate, qualityFloor }: Pick<RouteRow, "escalationRate" | "qualityFloor">,
  stored: unknown,
): { by: JudgeBy; threshold: JudgeThreshold } {
  const by =
    qualityFloor === null ? { escalation_rate: escalationRate ?? 0 } : { quality_floor: qualityFloor };
  return { by, threshold: thresholdOf(JudgeTable.parse(stored), by) };
}

/** As columns. */
export function choiceColumns(choice: JudgeChoice | null) {
  const by = choice?.by;
  return {
    judgeTableId: choice?.id ?? null,
    escalationRate: by && "escalation_rate" in by ? by.escalation_rate : null,
    qualityFloor: by && "quality_floor" in by ? by.quality_floor : null,
  };
}

function servedJudge(route: RouteRow): ServedJudge | undefined {
  const { judgeTable } = route;
  if (!judgeTable) return undefined;
  const table = JudgeTable.parse(judgeTable.table);
  if (isStale(table, judgeTable.pair)) return undefined;
  const { threshold } = chosenBy(route, judgeTable.table);
  return { ...JudgeModel.parse(table), sha256: judgeTable.sha256, threshold: threshold.threshold };
}

/** A route as nodes are told of it. A table that is stale is left out: until there is a new one the bounds judge. */
export function snapshotRoute(route: RouteRow): SnapshotRoute {
  const table = servedJudge(route);
  return {
    name: route.name,
    pair_id: route.pairId,
    judge: {
      version: route.judgeVersion,
      mean_logprob: route.meanLogprob,
      min_logprob: route.minLogprob,
      ...(table ? { table } : {}),
    },
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
