import { HelmError, RoutingSnapshot } from "@helm/contracts";
import { z } from "zod";
import type { Call, Context } from "../context";
import { diffRouting } from "./diff-routing";
import { readAcks, snapshotRow } from "./list";
import { readNames } from "./names";
import { type RoutingContent, readContent } from "./routing-content";

export const Generation = z.number().int().min(1).max(2_147_483_647);
export const GetSnapshotInput = z.object({ generation: Generation });

export async function getSnapshot({ ctx, input }: Call<z.infer<typeof GetSnapshotInput>>) {
  const row = await readSnapshot(ctx, input.generation);
  const before = await ctx.db.routingSnapshot.findFirst({
    where: { generation: { lt: row.generation } },
    orderBy: { generation: "desc" },
  });
  const newer = await ctx.db.routingSnapshot.findFirst({ where: { generation: { gt: row.generation } } });
  const acks = await readAcks(ctx, [row.generation]);
  const empty: RoutingContent = { helm_enabled: false, routes: [], pairs: [] };
  return {
    ...snapshotRow(row, acks),
    content: RoutingSnapshot.parse(JSON.parse(row.document)),
    document: row.document,
    signature: row.signature,
    newest: newer === null,
    differences: diffRouting(
      before ? readContent(before.document) : empty,
      readContent(row.document),
      await readNames(ctx.db),
    ),
  };
}

/** Errors: NOT_FOUND with the newest generation there is. */
export async function readSnapshot(ctx: Context, generation: number) {
  const row = await ctx.db.routingSnapshot.findUnique({ where: { generation } });
  if (row) return row;
  const newest = await ctx.db.routingSnapshot.findFirst({ orderBy: { generation: "desc" } });
  throw new HelmError(
    "NOT_FOUND",
    `There is no generation ${generation}; the newest is ${newest?.generation ?? 0}.`,
    { newest: newest?.generation ?? 0 },
  );
}
