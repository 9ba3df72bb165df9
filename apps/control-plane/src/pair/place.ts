import { type AuditVerb, FallbackReason, HelmError } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { isConnected } from "../host/list";
import { refusalOf } from "../snapshot/compile-routing";

export const PlacementInput = z.object({ id: z.uuid() });
export const PlacementOut = z.object({
  pairId: z.uuid(),
  name: z.string(),
  revision: z.number().int(),
  /** False: the pair is on every node. */
  placed: z.boolean(),
  developmentOnly: z.boolean(),
  /** Why no node uses the pair now, wherever it is placed; null: its nodes may. */
  refusal: FallbackReason.nullable(),
  nodes: z.array(
    z.object({
      id: z.uuid(),
      name: z.string(),
      connected: z.boolean(),
      development: z.boolean(),
      /** The pair is on this node; whether it is used is told by `refusal`. */
      here: z.boolean(),
      /** Why it may not be placed here; null: it may. */
      refusedBecause: z.string().nullable(),
    }),
  ),
});

export const PlaceInput = z.object({
  id: z.uuid(),
  /** The pair may be used on these and on no other. */
  nodeIds: z.array(z.uuid()).min(1).max(1_000),
  revision: z.number().int(),
});
export const UnplaceInput = PlaceInput.omit({ nodeIds: true });

export async function readPlacement({ ctx, input }: Call<z.infer<typeof PlacementInput>>) {
  return placementOf(ctx, await findPair(ctx, input.id));
}

export async function placePair({ ctx, input }: Call<z.infer<typeof PlaceInput>>) {
  const pair = await lockPair(ctx, input.id, input.revision);
  const before = await placementOf(ctx, pair);
  const wanted = new Set(input.nodeIds);
  const refused = before.nodes.filter(({ id, refusedBecause }) => wanted.has(id) && refusedBecause !== null);
  const known = new Set(before.nodes.map(({ id }) => id));
  const causes = [
    ...[...wanted]
      .filter((id) => !known.has(id))
      .map((node) => ({ node, sentence: `There is no node ${node}.` })),
    ...refused.map(({ id, refusedBecause }) => ({ node: id, sentence: refusedBecause ?? "" })),
  ];
  if (causes.length > 0) {
    throw new HelmError("PLACEMENT_REFUSED", causes.map(({ sentence }) => sentence).join(" "), { causes });
  }
  await ctx.db.placement.deleteMany({ where: { pairId: pair.id, nodeId: { notIn: [...wanted] } } });
  await ctx.db.placement.createMany({
    data: [...wanted].map((nodeId) => ({ pairId: pair.id, nodeId, createdBy: actorName(ctx.actor) })),
    skipDuplicates: true,
  });
  return settle(ctx, "pair.place", pair.id, before);
}

/** On every node again, as far as its mapper may go. */
export async function unplacePair({ ctx, input }: Call<z.infer<typeof UnplaceInput>>) {
  const pair = await lockPair(ctx, input.id, input.revision);
  const before = await placementOf(ctx, pair);
  await ctx.db.placement.deleteMany({ where: { pairId: pair.id } });
  return settle(ctx, "pair.unplace", pair.id, before);
}

async function settle(ctx: Context, verb: AuditVerb, id: string, before: z.infer<typeof PlacementOut>) {
  await ctx.db.pair.update({ where: { id }, data: { revision: { increment: 1 } } });
  const after = await placementOf(ctx, await findPair(ctx, id));
  await writeAudit(ctx, {
    verb,
    entity: "pair",
    entityId: id,
    before: { nodes: nodeWords(before) },
    after: { name: after.name, nodes: nodeWords(after) },
  });
  return after;
}

function nodeWords({ placed, nodes }: z.infer<typeof PlacementOut>): string | string[] {
  return placed ? nodes.filter(({ here }) => here).map(({ name }) => name) : "every node";
}

type Pair = Awaited<ReturnType<typeof findPair>>;

async function findPair(ctx: Context, id: string) {
  const pair = await ctx.db.pair.findUnique({
    where: { id },
    include: { source: true, target: true, placements: true, mappers: { where: { state: "ACTIVE" } } },
  });
  if (!pair) throw new HelmError("NOT_FOUND", "There is no such pair.");
  return pair;
}

async function lockPair(ctx: Context, id: string, revision: number): Promise<Pair> {
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${id}::uuid FOR NO KEY UPDATE`;
  const pair = await findPair(ctx, id);
  if (pair.revision === revision) return pair;
  const now = await placementOf(ctx, pair);
  throw new HelmError(
    "CONFLICT",
    `Someone else changed this pair meanwhile; it is on ${[nodeWords(now)].flat().join(", ") || "no node"} now. Look at it again.`,
    { revision: pair.revision, nodes: nodeWords(now) },
  );
}

async function placementOf(ctx: Context, pair: Pair): Promise<z.infer<typeof PlacementOut>> {
  const hosts = await ctx.db.host.findMany({
    where: { kind: "node", revokedAt: null },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const now = await databaseNow(ctx.db);
  const { requireBeatsPilot } = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const developmentOnly = pair.control || pair.mappers.some((mapper) => mapper.developmentOnly);
  const placed = pair.placements.length > 0;
  const on = new Set(pair.placements.map(({ nodeId }) => nodeId));
  const name = `${pair.source.name} -> ${pair.target.name}`;
  return {
    pairId: pair.id,
    name,
    revision: pair.revision,
    placed,
    developmentOnly,
    refusal: refusalOf(pair.status, pair.mappers[0] ?? null, pair.control, requireBeatsPilot),
    nodes: hosts.map((host) => {
      const development = host.hardware === "none" && host.device === "cpu";
      const may = development || !developmentOnly;
      const why = pair.control ? "is a control" : "has a mapper made on a CPU";
      return {
        id: host.id,
        name: host.name,
        connected: isConnected(host, now),
        development,
        here: may && (!placed || on.has(host.id)),
        refusedBecause: may
          ? null
          : `${host.name} is no development node, and ${name} ${why}: it is used on development nodes only.`,
      };
    }),
  };
}
