import type { Call } from "../context";
import { actingHost } from "../host/acting-host";
import type { AckInput } from "./record-acks";

/** What a node refused: it names what is kept instead and moves nothing. */
export async function recordNack({ ctx, input }: Call<AckInput>): Promise<void> {
  const { kind, sent, ack } = input;
  const nodeId = actingHost(ctx, "node").id;
  const reason = ack.reason ?? "no reason given";
  const fields = {
    ok: false,
    sha256: ack.sha256,
    reason,
    keptGeneration: ack.kept_generation ?? null,
    at: new Date(),
  };
  await ctx.db.nodeAck.upsert({
    where: { nodeId_kind_generation: { nodeId, kind, generation: sent } },
    create: { nodeId, kind, generation: sent, ...fields },
    update: fields,
  });
  const refused = REFUSED[kind](reason);
  await ctx.db.nodeState.upsert({ where: { nodeId }, create: { nodeId, ...refused }, update: refused });
  ctx.touched.add("node").add("snapshot");
}

const REFUSED = {
  routing_snapshot: (nackReason: string) => ({ nackReason }),
  access_list: (accessNackReason: string) => ({ accessNackReason }),
  node_orders: () => ({}),
} as const;
