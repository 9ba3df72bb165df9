import type { Context, Tx } from "../context";
import { keepToDevelopment, listDevelopmentNodes } from "./compile-routing";
import { mergeRouting } from "./merge-routing";
import { orderContent, type RoutingContent, readContent, sameContent } from "./routing-content";

export type RoutingHold = NonNullable<Awaited<ReturnType<Tx["routingHold"]["findUnique"]>>>;

export function readHold(db: Tx): Promise<RoutingHold | null> {
  return db.routingHold.findUnique({ where: { id: 1 } });
}

/**
 * What nodes should do while a rollback is held. What a person changes takes effect; what happens by itself (a run that
 * clears its gate, a node that joins) waits for the release. A mapper that may no longer be used goes out at once.
 * A hold that says what the settings say has nothing left to hold and ends.
 */
export async function followHold(
  ctx: Context,
  hold: RoutingHold,
  compiled: RoutingContent,
): Promise<{ content: RoutingContent; rolledBackTo: number | null }> {
  const base = readContent(hold.base);
  const held = readContent(hold.content);
  const deliberate = ctx.actor.kind === "person";
  const merged = deliberate ? mergeRouting(held, base, compiled) : held;
  const content = await withoutUnusable(ctx.db, merged);
  if (sameContent(content, compiled)) {
    await ctx.db.routingHold.delete({ where: { id: 1 } });
    return { content: compiled, rolledBackTo: null };
  }
  await ctx.db.routingHold.update({
    where: { id: 1 },
    data: { content: JSON.stringify(content), base: JSON.stringify(compiled) },
  });
  return { content, rolledBackTo: hold.generation };
}

/** Old content as it may still be used: no mapper that was retired since, and CPU-made ones on development nodes only. */
export async function withoutUnusable(db: Tx, content: RoutingContent): Promise<RoutingContent> {
  const usable = await db.mapper.findMany({
    where: {
      state: { not: "RETIRED" },
      verdict: "CLEARED",
      pairId: { in: content.pairs.map(({ id }) => id) },
    },
    select: { pairId: true, sha256: true },
  });
  const known = new Set(usable.map(({ pairId, sha256 }) => `${pairId} ${sha256}`));
  const development = await listDevelopmentNodes(db);
  return orderContent({
    ...content,
    pairs: content.pairs.map((pair) => {
      const nodes = pair.development ? keepToDevelopment(pair.nodes ?? null, development) : pair.nodes;
      if (pair.mapper_sha256 === null || known.has(`${pair.id} ${pair.mapper_sha256}`))
        return { ...pair, nodes };
      return { ...pair, nodes, mapper_sha256: null, mapper_bytes: null, refusal: "NOT_CALIBRATED" as const };
    }),
  });
}
