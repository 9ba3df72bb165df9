import { createHash } from "node:crypto";
import type { RoutingSnapshot } from "@helm/contracts";
import type { Context } from "../context";
import { compileRouting } from "./compile-routing";

const ROUTING_LOCK = 7_210_116_010;

/** Writes generation n+1 where what nodes should do differs from the newest generation; returns the newest number. */
export async function publishSnapshot(ctx: Context): Promise<number> {
  // One compiler at a time: the next one reads what this transaction committed.
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${ROUTING_LOCK}::bigint)`;
  const content = await compileRouting(ctx.db);
  const contentSha256 = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const newest = await ctx.db.routingSnapshot.findFirst({ orderBy: { generation: "desc" } });
  if (newest?.contentSha256 === contentSha256) return newest.generation;
  const generation = (newest?.generation ?? 0) + 1;
  const snapshot: RoutingSnapshot = {
    kind: "routing_snapshot",
    schema: 1,
    generation,
    created_at: new Date().toISOString(),
    ...content,
  };
  const signed = ctx.services.signer.sign(JSON.stringify(snapshot));
  await ctx.db.routingSnapshot.create({
    data: { generation, contentSha256, reason: ctx.requestId, ...signed },
  });
  ctx.touched.add("snapshot");
  ctx.afterCommit(() => ctx.services.hub.pushDocuments());
  return generation;
}
