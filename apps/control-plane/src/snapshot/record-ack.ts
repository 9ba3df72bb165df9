import type { NodeAck } from "@helm/contracts";
import type { Call } from "../context";
import { actingHost } from "../host/acting-host";

export interface AckInput {
  kind: "routing_snapshot" | "access_list" | "node_orders";
  /** Number of the document that was sent: a node that refuses one may not be able to read its number. */
  sent: number;
  ack: NodeAck;
}

/** What a node said to a document. Acks only ever move forward; a nack names what is kept and moves nothing. */
export async function recordAck({ ctx, input }: Call<AckInput>): Promise<void> {
  const { kind, sent, ack } = input;
  const nodeId = actingHost(ctx, "node").id;
  const fields = {
    ok: ack.ok,
    sha256: ack.sha256,
    reason: ack.ok ? null : (ack.reason ?? "no reason given"),
    keptGeneration: ack.ok ? null : (ack.kept_generation ?? null),
    at: new Date(),
  };
  await ctx.db.nodeAck.upsert({
    where: { nodeId_kind_generation: { nodeId, kind, generation: sent } },
    create: { nodeId, kind, generation: sent, ...fields },
    update: fields,
  });
  const before = await ctx.db.nodeState.upsert({ where: { nodeId }, create: { nodeId }, update: {} });
  const data = stateAfter(input, fields.reason, before);
  if (data) await ctx.db.nodeState.update({ where: { nodeId }, data });
  ctx.touched.add("node").add("snapshot");
}

function stateAfter(
  { kind, sent }: AckInput,
  refused: string | null,
  before: { ackedGeneration: number; accessVersion: number },
) {
  switch (kind) {
    case "routing_snapshot":
      if (refused !== null) return { nackReason: refused };
      return { ackedGeneration: Math.max(before.ackedGeneration, sent), nackReason: null };
    case "access_list":
      if (refused !== null) return { accessNackReason: refused };
      return { accessVersion: Math.max(before.accessVersion, sent), accessNackReason: null };
    case "node_orders":
      return null;
  }
}
