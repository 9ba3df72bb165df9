import type { NodeReadiness } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import type { Call } from "../context";
import { actingHost } from "../host/acting-host";

/** The node's own report, kept whole; its generations are what it says now, also after it went back to an older one. */
export async function recordReadiness({ ctx, input }: Call<NodeReadiness>): Promise<void> {
  const nodeId = actingHost(ctx, "node").id;
  const data = {
    activeGeneration: input.active_generation,
    ackedGeneration: input.acked_generation,
    accessVersion: input.access_version,
    readiness: input as Prisma.InputJsonValue,
    reportedAt: new Date(),
  };
  await ctx.db.nodeState.upsert({ where: { nodeId }, create: { nodeId, ...data }, update: data });
  await ctx.db.host.update({
    where: { id: nodeId },
    data: { engine: input.engine.name, ...(input.machine ? { machine: input.machine } : {}) },
  });
  ctx.touched.add("node");
}
