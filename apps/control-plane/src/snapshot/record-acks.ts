import type { NodeAck } from "@helm/contracts";
import type { Context } from "../context";

export interface AckInput {
  kind: "routing_snapshot" | "access_list" | "node_orders";
  /** Number of the document that was sent: a node that refuses one may not be able to read its number. */
  sent: number;
  ack: NodeAck;
}

export interface TakenAck {
  nodeId: string;
  kind: AckInput["kind"];
  sent: number;
  sha256: string;
  at: Date;
}

/**
 * Of nodes that took what was sent: three statements, whatever their number. Acks only ever move forward, whatever order two
 * control planes write them in.
 */
export async function recordAcks(ctx: Context, taken: readonly TakenAck[]): Promise<void> {
  const newest = new Map(taken.map((one) => [`${one.nodeId} ${one.kind} ${one.sent}`, one]));
  // In one order everywhere, so that two control planes never wait for each other's rows.
  const acks = [...newest.values()].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  const column = <T>(of: (ack: TakenAck) => T) => acks.map(of);
  await ctx.db.$executeRaw`
    INSERT INTO node_ack (node_id, kind, generation, ok, sha256, reason, kept_generation, at)
    SELECT node, kind, sent, true, sha256, NULL, NULL, at FROM unnest(
      ${column((ack) => ack.nodeId)}::uuid[], ${column((ack) => ack.kind)}::text[],
      ${column((ack) => ack.sent)}::int[], ${column((ack) => ack.sha256)}::text[],
      ${column((ack) => ack.at.toISOString())}::timestamptz[]) AS t(node, kind, sent, sha256, at)
    ON CONFLICT (node_id, kind, generation) DO UPDATE
      SET ok = true, sha256 = excluded.sha256, reason = NULL, kept_generation = NULL, at = excluded.at`;
  const of = (kind: AckInput["kind"]) => acks.filter((ack) => ack.kind === kind);
  const snapshots = of("routing_snapshot");
  const access = of("access_list");
  if (snapshots.length > 0)
    await ctx.db.$executeRaw`
      INSERT INTO node_state (node_id, acked_generation)
      SELECT node, max(sent) FROM unnest(${snapshots.map((ack) => ack.nodeId)}::uuid[],
        ${snapshots.map((ack) => ack.sent)}::int[]) AS t(node, sent) GROUP BY node ORDER BY node
      ON CONFLICT (node_id) DO UPDATE SET nack_reason = NULL,
        acked_generation = GREATEST(node_state.acked_generation, excluded.acked_generation)`;
  if (access.length > 0)
    await ctx.db.$executeRaw`
      INSERT INTO node_state (node_id, access_version)
      SELECT node, max(sent) FROM unnest(${access.map((ack) => ack.nodeId)}::uuid[],
        ${access.map((ack) => ack.sent)}::int[]) AS t(node, sent) GROUP BY node ORDER BY node
      ON CONFLICT (node_id) DO UPDATE SET access_nack_reason = NULL,
        access_version = GREATEST(node_state.access_version, excluded.access_version)`;
  ctx.touched.add("node").add("snapshot");
}
