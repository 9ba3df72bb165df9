import { createHash } from "node:crypto";
import type { RoutingSnapshot } from "@helm/contracts";
import { actorName } from "../access/actor";
import type { Context } from "../context";
import { compileRouting } from "./compile-routing";
import { followHold, readHold } from "./routing-hold";

const ROUTING_LOCK = 7_210_116_010;

/** One compiler at a time, until its transaction ends: the next one reads what this one committed. */
export async function lockRouting(ctx: Context): Promise<void> {
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${ROUTING_LOCK}::bigint)`;
}

/** Writes generation n+1 where what nodes should do differs from the newest generation; returns the newest number. */
export async function publishSnapshot(ctx: Context, note?: string): Promise<number> {
  await lockRouting(ctx);
  const compiled = await compileRouting(ctx.db);
  const hold = await readHold(ctx.db);
  const { content, rolledBackTo } = hold
    ? await followHold(ctx, hold, compiled)
    : { content: compiled, rolledBackTo: null };
  const contentSha256 = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const newest = await ctx.db.routingSnapshot.findFirst({
    orderBy: { generation: "desc" },
    select: { generation: true, contentSha256: true },
  });
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
    data: {
      generation,
      contentSha256,
      ...signed,
      reason: ctx.requestId,
      actorKind: ctx.actor.kind,
      actorName: actorName(ctx.actor),
      verbs: [...ctx.verbs],
      note,
      rolledBackTo,
    },
  });
  ctx.touched.add("snapshot");
  ctx.afterCommit(() => ctx.services.hub.pushDocuments());
  return generation;
}
