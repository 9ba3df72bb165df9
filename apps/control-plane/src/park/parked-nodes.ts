import { NodeReadiness, type ServingReport } from "@helm/contracts";
import type { Context } from "../context";

/** A node that nobody saw for this long is not waited for: its engine goes with it, and the guard has the last word. */
const GONE_MS = 60_000;

interface Parked {
  name: string;
  ordersRevision: number;
  serving: ServingReport | null;
}

/** Nodes of this run that are not parked yet, by name. */
async function awaitedNodes(ctx: Context, calibrationId: string, now: Date): Promise<Parked[]> {
  const parks = await ctx.db.nodePark.findMany({
    where: { calibrationId, node: { revokedAt: null } },
    include: { node: { include: { nodeState: { select: { readiness: true } } } } },
    orderBy: { node: { name: "asc" } },
  });
  return parks.flatMap(({ ordersRevision, node }) => {
    // While this control plane was away nobody could be seen.
    const silentMs = Math.min(now.getTime() - (node.lastSeenAt?.getTime() ?? 0), process.uptime() * 1000);
    const serving = NodeReadiness.safeParse(node.nodeState?.readiness).data?.serving ?? null;
    const parked = serving?.state === "PARKED" && serving.orders_revision >= ordersRevision;
    return parked || silentMs > GONE_MS ? [] : [{ name: node.name, ordersRevision, serving }];
  });
}

function sentenceOf({ name, ordersRevision, serving }: Parked): string {
  if (!serving || serving.orders_revision < ordersRevision)
    return `node ${name}: it has not taken up the order yet`;
  if (serving.running > 0)
    return `node ${name}: ${serving.running} ${serving.running === 1 ? "request" : "requests"} running`;
  return `node ${name}: its engine is being stopped`;
}

/** What this run waits for before its job may begin; null where every node of its machine is parked. */
export async function whatIsAwaited(ctx: Context, calibrationId: string, now: Date): Promise<string | null> {
  const awaited = await awaitedNodes(ctx, calibrationId, now);
  return awaited.length === 0 ? null : `Draining ${awaited.map(sentenceOf).join("; ")}.`;
}
