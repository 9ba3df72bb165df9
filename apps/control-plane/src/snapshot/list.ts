import { z } from "zod";
import type { Call, Context } from "../context";
import { type Ack, SnapshotRow } from "./schema";

export const ListSnapshotsInput = z
  .object({
    /** Generations below this one. */
    cursor: z.number().int().nullish(),
    limit: z.number().int().min(1).max(200).default(25),
  })
  .prefault({});
export const ListSnapshotsOutput = z.object({
  rows: z.array(SnapshotRow),
  nextCursor: z.number().int().nullable(),
});

export const rowFields = { document: true, signature: true, contentSha256: true } as const;
type Stored = Omit<
  NonNullable<Awaited<ReturnType<Context["db"]["routingSnapshot"]["findUnique"]>>>,
  keyof typeof rowFields
>;

/** Newest first; the generation itself is the cursor. */
export async function listSnapshots({ ctx, input }: Call<z.infer<typeof ListSnapshotsInput>>) {
  const found = await ctx.db.routingSnapshot.findMany({
    where: input.cursor ? { generation: { lt: input.cursor } } : {},
    orderBy: { generation: "desc" },
    take: input.limit + 1,
    omit: rowFields,
  });
  const rows = found.slice(0, input.limit);
  const acks = await readAcks(
    ctx,
    rows.map(({ generation }) => generation),
  );
  const more = found.length > input.limit;
  return {
    rows: rows.map((row) => snapshotRow(row, acks)),
    nextCursor: more ? (rows.at(-1)?.generation ?? null) : null,
  };
}

export type Acks = Map<number, z.infer<typeof Ack>[]>;

export async function readAcks(ctx: Context, generations: number[]): Promise<Acks> {
  const found = await ctx.db.nodeAck.findMany({
    where: { kind: "routing_snapshot", generation: { in: generations } },
    include: { node: { select: { name: true } } },
    orderBy: { node: { name: "asc" } },
  });
  const acks: Acks = new Map(generations.map((generation) => [generation, []]));
  for (const { generation, nodeId, node, ok, reason, keptGeneration, at } of found) {
    acks.get(generation)?.push({ nodeId, node: node.name, ok, reason, kept: keptGeneration, at });
  }
  return acks;
}

export function snapshotRow(row: Stored, acks: Acks): SnapshotRow {
  return {
    generation: row.generation,
    sha256: row.sha256,
    createdAt: row.createdAt,
    actor: row.actorName === null ? null : { kind: row.actorKind ?? "system", name: row.actorName },
    verbs: row.verbs,
    note: row.note,
    requestId: row.reason,
    rolledBackTo: row.rolledBackTo,
    acks: acks.get(row.generation) ?? [],
  };
}
