import { type AuditVerb, HelmError, type NodeOrders, type SignedDocument, text } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import type { Signer } from "../snapshot/signer";

export const NodeIdInput = z.object({ id: z.uuid() });
export const DrainInput = NodeIdInput.extend({ reason: text(500).optional() });
export const OrdersOutput = z.object({
  id: z.uuid(),
  name: z.string(),
  drain: z.boolean(),
  revision: z.number().int(),
  connected: z.boolean(),
});

type Host = Awaited<ReturnType<typeof lockNode>>;

/** No new requests from here on; what runs ends. Kept with the node, so that a restart or another control plane changes nothing. */
export async function drainNode({ ctx, input }: Call<z.infer<typeof DrainInput>>) {
  const node = await lockNode(ctx, input.id);
  if (node.drain) {
    const by = node.drainBy ?? "somebody";
    throw new HelmError("ILLEGAL_TRANSITION", `${node.name} was told to drain already, by ${by}.`, {
      drain: true,
    });
  }
  return order(ctx, node, "node.drain", { drain: true }, input.reason);
}

/** Back onto the serving path: the node takes requests again once its canary has passed. A parked one waits for its run. */
export async function undrainNode({ ctx, input }: Call<z.infer<typeof NodeIdInput>>) {
  const node = await lockNode(ctx, input.id);
  const park = await ctx.db.nodePark.findFirst({ where: { nodeId: node.id }, orderBy: { createdAt: "asc" } });
  if (park) throw parkedFor(node.name, park.calibrationId);
  if (!node.drain) {
    throw new HelmError("ILLEGAL_TRANSITION", `${node.name} is not drained.`, { drain: false });
  }
  return order(ctx, node, "node.undrain", { drain: false });
}

/** Every model and every mapper of the node shows once more that it works. */
export async function repeatCanary({ ctx, input }: Call<z.infer<typeof NodeIdInput>>) {
  const node = await lockNode(ctx, input.id);
  return order(ctx, node, "node.canary", { canaryNumber: node.canaryNumber + 1 });
}

function parkedFor(name: string, calibrationId: string): HelmError {
  return new HelmError(
    "NODE_PARKED",
    `${name} is parked for the calibration ${calibrationId} and comes back when that ends. Cancel the calibration to have it back now.`,
    { calibrationId },
  );
}

async function lockNode(ctx: Context, id: string) {
  await ctx.db.$executeRaw`SELECT 1 FROM "host" WHERE "id" = ${id}::uuid FOR NO KEY UPDATE`;
  const node = await ctx.db.host.findUnique({ where: { id } });
  if (node?.kind !== "node" || node.revokedAt)
    throw new HelmError("NOT_FOUND", "There is no such node; it may have been revoked.");
  return node;
}

async function order(
  ctx: Context,
  node: Host,
  verb: AuditVerb,
  change: { drain?: boolean; canaryNumber?: number },
  reason?: string,
) {
  const drained = change.drain === undefined ? {} : { drainBy: actorName(ctx.actor), drainAt: new Date() };
  const after = await ctx.db.host.update({
    where: { id: node.id },
    data: { ...change, ...drained, ordersRevision: { increment: 1 } },
  });
  await writeAudit(ctx, {
    verb,
    entity: "node",
    entityId: node.id,
    before: { drain: node.drain, canary: node.canaryNumber },
    after: { drain: after.drain, canary: after.canaryNumber, name: node.name },
    reason,
  });
  ctx.afterCommit(() => ctx.services.hub.pushDocuments());
  const connected =
    after.connectedAt !== null && (after.disconnectedAt === null || after.disconnectedAt < after.connectedAt);
  return { id: node.id, name: node.name, drain: after.drain, revision: after.ordersRevision, connected };
}

/** Null while nothing was ever ordered: a node that was told nothing serves. */
export function signOrders(
  signer: Signer,
  node: { id: string; drain: boolean; canaryNumber: number; ordersRevision: number; parks: unknown[] },
): { revision: number; document: SignedDocument } | null {
  if (node.ordersRevision === 0) return null;
  const parked = node.parks.length > 0;
  const orders: NodeOrders = {
    kind: "node_orders",
    schema: 1,
    node_id: node.id,
    revision: node.ordersRevision,
    drain: node.drain || parked,
    park: parked,
    canary: node.canaryNumber,
  };
  return { revision: node.ordersRevision, document: signer.sign(JSON.stringify(orders)) };
}
