import type { NodeAck } from "@helm/contracts";
import type { Call } from "../context";
import { actingHost } from "../host/acting-host";

export interface AckInput {
  kind: "routing_snapshot" | "access_list";
  ack: NodeAck;
}

/** What a node said to a document. Acks only ever move forward; a nack names what is kept and moves nothing. */
export async function recordAck({ ctx, input }: Call<AckInput>): Promise<void> {
  const { kind, ack } = input;
  const nodeId = actingHost(ctx, "node").id;
  const fields = { ok: ack.ok, sha256: ack.sha256, reason: ack.reason ?? null, at: new Date() };
  await ctx.db.nodeAck.upsert({
    where: { nodeId_kind_generation: { nodeId, kind, generation: ack.generation } },
    create: { nodeId, kind, generation: ack.generation, ...fields },
    update: fields,
  });
  const before = await ctx.db.nodeState.upsert({ where: { nodeId }, create: { nodeId }, update: {} });
  if (!ack.ok)
    await ctx.db.nodeState.update({
      where: { nodeId },
      data: { nackReason: ack.reason ?? "no reason given" },
    });
  else if (kind === "access_list") {
    await ctx.db.nodeState.update({
      where: { nodeId },
      data: { accessVersion: Math.max(before.accessVersion, ack.generation) },
    });
  } else {
    const ackedGeneration = Math.max(before.ackedGeneration, ack.generation);
    await ctx.db.nodeState.update({ where: { nodeId }, data: { ackedGeneration, nackReason: null } });
  }
  ctx.touched.add("node");
}
