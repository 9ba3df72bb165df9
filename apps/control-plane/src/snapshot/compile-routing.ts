import type { FallbackReason } from "@helm/contracts";
import type { Tx } from "../context";
import { readActiveMappers } from "../mapper/active";
import { defaultFirst, snapshotRoute, withJudge } from "../route/schema";
import { orderContent, type RoutingContent } from "./routing-content";

export type { RoutingContent } from "./routing-content";

/** What nodes should do, read from the database in a fixed order: equal facts give equal text. */
export async function compileRouting(db: Tx): Promise<RoutingContent> {
  const setting = await db.setting.findUniqueOrThrow({ where: { id: 1 } });
  // The first one is what a request without a model goes to.
  const routes = defaultFirst(
    await db.route.findMany({ include: withJudge, orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
  );
  const pairs = await db.pair.findMany({
    include: {
      source: { select: { name: true, weightsSha256: true } },
      target: { select: { name: true, weightsSha256: true } },
      placements: { where: { node: { revokedAt: null } }, select: { nodeId: true } },
      _count: { select: { placements: true } },
    },
    orderBy: { id: "asc" },
  });
  const active = await readActiveMappers(db);
  const developmentNodes = await listDevelopmentNodes(db);
  return orderContent({
    helm_enabled: setting.helmEnabled,
    routes: routes.map(snapshotRoute),
    pairs: pairs.map((pair) => {
      const mapper = active.get(pair.id) ?? null;
      const development = pair.control || (mapper?.developmentOnly ?? false);
      const placed = pair._count.placements > 0 ? pair.placements.map(({ nodeId }) => nodeId) : null;
      return {
        id: pair.id,
        pilot: pair.source.name,
        target: pair.target.name,
        mapper_sha256: mapper?.sha256 ?? null,
        mapper_bytes: mapper?.bytes ?? null,
        refusal: refusalOf(pair.status, mapper, pair.control, setting.requireBeatsPilot),
        development,
        pilot_weights_sha256: pair.source.weightsSha256,
        target_weights_sha256: pair.target.weightsSha256,
        nodes: development ? keepToDevelopment(placed, developmentNodes) : placed,
      };
    }),
  });
}

/** Nodes whose host has no accelerator and that were started for the CPU. */
export async function listDevelopmentNodes(db: Tx): Promise<Set<string>> {
  const hosts = await db.host.findMany({
    where: { kind: "node", revokedAt: null, hardware: "none", device: "cpu" },
    select: { id: true },
  });
  return new Set(hosts.map(({ id }) => id));
}

/** What was made on a CPU stays on development nodes, placed or not. */
export function keepToDevelopment(
  nodes: readonly string[] | null,
  development: ReadonlySet<string>,
): string[] {
  return nodes === null ? [...development] : nodes.filter((id) => development.has(id));
}

/** Null where the pair may be used. A control shows that the machinery is right, so no gain over a pilot is asked. */
export function refusalOf(
  status: "ELIGIBLE" | "TRANSFER_INELIGIBLE" | "NOT_CALIBRATED",
  mapper: { warnings: string[] } | null,
  control: boolean,
  requireBeatsPilot: boolean,
): FallbackReason | null {
  if (!mapper) return status === "TRANSFER_INELIGIBLE" ? "TRANSFER_INELIGIBLE" : "NOT_CALIBRATED";
  const warned = mapper.warnings.includes("NOT_ABOVE_PILOT") || mapper.warnings.includes("TARGET_NOT_BETTER");
  return warned && requireBeatsPilot && !control ? "NOT_ABOVE_PILOT" : null;
}
