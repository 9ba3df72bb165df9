import { createHash } from "node:crypto";
import { HelmError, Ladder, targetOutcomes } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";

export const RecordLadderInput = Ladder;
export const RecordLadderOutput = z.object({ id: z.uuid(), nodeId: z.uuid().nullable() });

/** Stores a climb under the node whose gateway it was run against. Errors: CONFLICT for one that is here already. */
export async function recordLadder({ ctx, input }: Call<Ladder>) {
  const sha256 = createHash("sha256").update(JSON.stringify(input)).digest("hex");
  // Two that come at once: the unique index keeps one, and the other is told as one that came later.
  const { count } = await ctx.db.ladder.createMany({
    data: {
      nodeId: await nodeOf(ctx, input.gateway),
      model: input.model,
      sha256,
      result: input as Prisma.InputJsonValue,
      recordedBy: actorName(ctx.actor),
    },
    skipDuplicates: true,
  });
  const { id, nodeId } = await ctx.db.ladder.findUniqueOrThrow({
    where: { sha256 },
    select: { id: true, nodeId: true },
  });
  if (count === 0) throw new HelmError("CONFLICT", "This very ladder is recorded already.", { ladderId: id });
  const outcomes = targetOutcomes(input);
  await writeAudit(ctx, {
    verb: "ladder.record",
    entity: "ladder",
    entityId: id,
    after: {
      nodeId,
      model: input.model,
      rungs: input.rungs.length,
      clients: input.rungs.at(-1)?.clients ?? 0,
      stopped: input.stopped?.rule ?? null,
      targetsMet: `${outcomes.filter(({ met }) => met).length} of ${outcomes.length}`,
    },
  });
  return { id, nodeId };
}

/** The one node that says its gateway answers there; several would be a guess. */
async function nodeOf(ctx: Context, gateway: string): Promise<string | null> {
  const origin = new URL(gateway).origin;
  const nodes = await ctx.db.host.findMany({
    where: { kind: "node", revokedAt: null, url: { not: null } },
    select: { id: true, url: true },
  });
  const found = nodes.filter(
    ({ url }) => url !== null && URL.canParse(url) && new URL(url).origin === origin,
  );
  return found.length === 1 ? (found[0]?.id ?? null) : null;
}
