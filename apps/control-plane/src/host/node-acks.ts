import { z } from "zod";
import type { Call } from "../context";
import { NodeIdInput } from "./orders";

const Kind = z.enum(["routing_snapshot", "access_list", "node_orders"]);

export const AcksInput = NodeIdInput.extend({
  kind: Kind.default("routing_snapshot"),
  /** Numbers below this one. */
  cursor: z.number().int().nullish(),
  limit: z.number().int().min(1).max(200).default(25),
});
export const AcksOutput = z.object({
  rows: z.array(
    z.object({
      number: z.number().int(),
      ok: z.boolean(),
      sha256: z.string(),
      reason: z.string().nullable(),
      kept: z.number().int().nullable(),
      at: z.date(),
    }),
  ),
  nextCursor: z.number().int().nullable(),
});

/** What a node said to each document, newest first. */
export async function listNodeAcks({ ctx, input }: Call<z.infer<typeof AcksInput>>) {
  const found = await ctx.db.nodeAck.findMany({
    where: {
      nodeId: input.id,
      kind: input.kind,
      ...(input.cursor ? { generation: { lt: input.cursor } } : {}),
    },
    orderBy: { generation: "desc" },
    take: input.limit + 1,
  });
  const rows = found.slice(0, input.limit).map(({ generation, ok, sha256, reason, keptGeneration, at }) => ({
    number: generation,
    ok,
    sha256,
    reason,
    kept: keptGeneration,
    at,
  }));
  return { rows, nextCursor: found.length > input.limit ? (rows.at(-1)?.number ?? null) : null };
}
