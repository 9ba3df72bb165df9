import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";

interface Run {
  id: string;
}

/**
 * Orders every node of a machine parked for this run: drained, then its engine stopped. Part of the transaction that takes
 * the run; a node that another run parked, or that an operator drained, is parked for this one as well.
 */
export async function parkNodes(ctx: Context, run: Run, machine: string): Promise<void> {
  const nodes = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "host" WHERE "kind" = 'node' AND "machine" = ${machine} AND "revoked_at" IS NULL
    ORDER BY "id" FOR NO KEY UPDATE`;
  for (const { id } of nodes) {
    const node = await tellAgain(ctx, id);
    const key = { nodeId: id, calibrationId: run.id };
    const { ordersRevision } = node;
    await ctx.db.nodePark.upsert({
      where: { nodeId_calibrationId: key },
      create: { ...key, ordersRevision },
      update: { ordersRevision },
    });
    await writeAudit(ctx, {
      verb: "node.park",
      entity: "node",
      entityId: id,
      after: { name: node.name, calibration: run.id },
    });
  }
  if (nodes.length > 0) ctx.afterCommit(() => ctx.services.hub.pushDocuments());
}

/** Gives back what this run parked, in the transaction of its end. A node stays parked for another run, or drained. */
export async function unparkNodes(ctx: Context, run: Run): Promise<void> {
  const nodes = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "host" WHERE "id" IN (SELECT "node_id" FROM "node_park" WHERE "calibration_id" = ${run.id}::uuid)
    ORDER BY "id" FOR NO KEY UPDATE`;
  for (const { id } of nodes) {
    const { count } = await ctx.db.nodePark.deleteMany({ where: { nodeId: id, calibrationId: run.id } });
    if (count === 0) continue;
    const node = await tellAgain(ctx, id);
    const parked = (await ctx.db.nodePark.count({ where: { nodeId: id } })) > 0;
    await writeAudit(ctx, {
      verb: "node.unpark",
      entity: "node",
      entityId: id,
      before: { parked: true },
      after: { name: node.name, calibration: run.id, parked, drain: node.drain },
    });
  }
  if (nodes.length > 0) ctx.afterCommit(() => ctx.services.hub.pushDocuments());
}

function tellAgain(ctx: Context, id: string) {
  return ctx.db.host.update({ where: { id }, data: { ordersRevision: { increment: 1 } } });
}
