import { z } from "zod";
import { query, router } from "../trpc/procedure";

const SnapshotRow = z.object({
  generation: z.number().int(),
  sha256: z.string(),
  createdAt: z.date(),
  acks: z.array(
    z.object({
      nodeId: z.uuid(),
      node: z.string(),
      ok: z.boolean(),
      reason: z.string().nullable(),
      at: z.date(),
    }),
  ),
});

export const snapshotRouter = router({
  list: query.output(z.array(SnapshotRow)).query(async ({ ctx }) => {
    const rows = await ctx.db.routingSnapshot.findMany({
      orderBy: { generation: "desc" },
      take: 50,
      omit: { document: true },
    });
    const acks = await ctx.db.nodeAck.findMany({
      where: { kind: "routing_snapshot", generation: { in: rows.map((row) => row.generation) } },
      include: { node: { select: { name: true } } },
    });
    return rows.map(({ generation, sha256, createdAt }) => ({
      generation,
      sha256,
      createdAt,
      acks: acks
        .filter((ack) => ack.generation === generation)
        .map(({ nodeId, node, ok, reason, at }) => ({ nodeId, node: node.name, ok, reason, at })),
    }));
  }),
});
