import { HelmError, text } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { compileRouting } from "./compile-routing";
import { Generation, readSnapshot } from "./get";
import { lockRouting, publishSnapshot } from "./publish-snapshot";
import { type RoutingContent, readContent, sameContent } from "./routing-content";
import { readHold, withoutUnusable } from "./routing-hold";

export const RollbackInput = z.object({
  generation: Generation,
  /** The newest generation that the person saw: who decides on an older one is told so. */
  newest: Generation,
  note: text(500).optional(),
});
export const RollbackOutput = z.object({ generation: z.number().int(), rolledBackTo: z.number().int() });

/** A new generation with old content, held until it is released: nodes never go back a number. */
export async function rollbackSnapshot({ ctx, input }: Call<z.infer<typeof RollbackInput>>) {
  await lockRouting(ctx);
  const newest = await requireNewest(ctx, input.newest);
  const old = await readSnapshot(ctx, input.generation);
  const content = readContent(old.document);
  const causes = await whyNotUsable(ctx, content);
  if (causes.length > 0) {
    throw new HelmError(
      "ROLLBACK_REFUSED",
      `Generation ${input.generation} can no longer be used. ${causes.map(({ sentence }) => sentence).join(" ")}`,
      { causes },
    );
  }
  const held = await withoutUnusable(ctx.db, content);
  if (sameContent(held, await withoutUnusable(ctx.db, readContent(newest.document)))) {
    throw new HelmError(
      "CONFLICT",
      `Generation ${input.generation} says what generation ${newest.generation} says. There is nothing to roll back.`,
      { newest: newest.generation },
    );
  }
  const before = await readHold(ctx.db);
  const hold = {
    generation: input.generation,
    content: JSON.stringify(held),
    base: JSON.stringify(await compileRouting(ctx.db)),
    note: input.note ?? null,
    heldBy: actorName(ctx.actor),
    heldAt: new Date(),
  };
  await ctx.db.routingHold.upsert({ where: { id: 1 }, create: hold, update: hold });
  await writeAudit(ctx, {
    verb: "snapshot.rollback",
    entity: "snapshot",
    entityId: String(input.generation),
    before: { rolledBackTo: before?.generation ?? null },
    after: { rolledBackTo: input.generation, insteadOf: newest.generation },
    reason: input.note,
  });
  const generation = await publishSnapshot(ctx, input.note);
  return { generation, rolledBackTo: input.generation };
}

async function requireNewest(ctx: Context, seen: number) {
  const newest = await ctx.db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } });
  if (newest.generation === seen) return newest;
  throw new HelmError(
    "CONFLICT",
    `The routing changed meanwhile: generation ${newest.generation} by ${newest.actorName ?? "somebody"} is the newest, you saw ${seen}. Look at what changed and decide again.`,
    { newest: newest.generation, by: newest.actorName },
  );
}

interface Cause {
  cause: "PAIR_GONE" | "MAPPER_GONE" | "MAPPER_RETIRED" | "MODEL_CHANGED";
  pair: string;
  sentence: string;
}

/** Every reason why old content may not be used again, all that hold. */
export async function whyNotUsable(ctx: Context, content: RoutingContent): Promise<Cause[]> {
  const pairs = await ctx.db.pair.findMany({ include: { source: true, target: true } });
  const mappers = await ctx.db.mapper.findMany({ select: { pairId: true, sha256: true, state: true } });
  return content.pairs.flatMap((old): Cause[] => {
    const name = `${old.pilot} -> ${old.target}`;
    const pair = pairs.find(({ id }) => id === old.id);
    if (!pair) return [{ cause: "PAIR_GONE", pair: name, sentence: `The pair ${name} is no longer there.` }];
    if (old.mapper_sha256 === null) return [];
    const short = old.mapper_sha256.slice(0, 12);
    const found = mappers.filter((one) => one.pairId === old.id && one.sha256 === old.mapper_sha256);
    const causes: Cause[] = [];
    if (found.length === 0)
      causes.push({
        cause: "MAPPER_GONE",
        pair: name,
        sentence: `Mapper ${short} of ${name} is no longer there.`,
      });
    else if (found.every(({ state }) => state === "RETIRED"))
      causes.push({
        cause: "MAPPER_RETIRED",
        pair: name,
        sentence: `Mapper ${short} of ${name} was retired.`,
      });
    const changed =
      differs(old.pilot_weights_sha256, pair.source.weightsSha256) ||
      differs(old.target_weights_sha256, pair.target.weightsSha256);
    if (changed)
      causes.push({
        cause: "MODEL_CHANGED",
        pair: name,
        sentence: `A model of ${name} has other weights now than mapper ${short} was made for.`,
      });
    return causes;
  });
}

function differs(old: string | null, now: string | null): boolean {
  return old !== null && now !== null && old !== now;
}
